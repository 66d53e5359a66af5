"""Moonshine: its files without the model, its hearing with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.bench.hearing import wer
from s2s.core.audio import Block, empty
from s2s.models.resources import Resources
from s2s.stt.base import SttError, Transcription
from s2s.stt.moonshine import Moonshine, MoonshineConfig, is_speech, unquoted
from s2s.stt.moonshine_model import Hypothesis

NAMES = tuple(f"librivox_{number}" for number in ("0870", "0880", "0890", "0920", "0930"))


Recordings = dict[str, tuple[Block, str]]


def test_speech_has_letters_and_some_certainty() -> None:
    pieces = ["▁You".encode(), "♪".encode(), b"."]
    assert is_speech(Hypothesis([0, 2], [-0.1, -0.1, -0.1]), pieces)
    assert not is_speech(Hypothesis([0], [-0.5, -0.3]), pieces)
    assert not is_speech(Hypothesis([1, 1, 1], [0.0, 0.0, 0.0, 0.0]), pieces)
    assert not is_speech(Hypothesis([0, 2, 0], [-1.0] * 4), pieces)
    assert not is_speech(Hypothesis(), pieces)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    class Folder:
        def path(self, name: str) -> Path:
            return Path(name)

    config = MoonshineConfig(model=str(tmp_path))
    with pytest.raises(SttError, match=r"encoder_model\.ort is not there"):
        Moonshine(config, Resources(store=Folder()))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("window_s", "tokens_per_s"), [(0.5, 6.5), (30.0, 0.0)])
def test_options_that_make_no_sense(window_s: float, tokens_per_s: float) -> None:
    with pytest.raises(ValueError, match="moonshine"):
        MoonshineConfig(window_s=window_s, tokens_per_s=tokens_per_s)


@pytest.fixture(scope="module")
def moonshine(resources: Resources) -> Moonshine:
    return Moonshine(MoonshineConfig(), resources)


@pytest.mark.models
def test_recordings_are_heard_with_at_most_five_percent_errors(
    moonshine: Moonshine, librivox: Recordings
) -> None:
    assert tuple(librivox) == NAMES
    heard = [(words, moonshine.transcribe(audio)) for audio, words in librivox.values()]
    assert wer.rate((words, transcription.text) for words, transcription in heard) <= 0.05
    assert {transcription.language for _, transcription in heard} == {"en"}


@pytest.mark.models
@pytest.mark.parametrize("name", NAMES)
def test_an_earlier_result_changes_nothing_and_saves_steps(
    name: str, moonshine: Moonshine, librivox: Recordings
) -> None:
    audio, _ = librivox[name]
    asked = [0]

    def count() -> bool:
        asked[0] += 1
        return False

    afresh = moonshine.transcribe(audio, stop=count)
    steps = asked[0]
    for part in (0.3, 0.6, 0.8, 0.95, 1.0):
        earlier = moonshine.transcribe(audio[: int(len(audio) * part)])
        assert moonshine.transcribe(audio, earlier=earlier) == afresh
    wrong = Transcription("", tokens=(1000, 2, 2000, 2, *range(100, 200)))
    assert moonshine.transcribe(audio, earlier=wrong) == afresh
    asked[0] = 0
    moonshine.transcribe(audio, earlier=afresh, stop=count)
    if name in ("librivox_0870", "librivox_0920", "librivox_0930"):  # no choice in doubt
        assert asked[0] <= steps // 3


@pytest.mark.models
def test_long_audio_is_heard_whole(moonshine: Moonshine, librivox: Recordings) -> None:
    names = ["librivox_0870", "librivox_0920", "librivox_0930"] * 2
    pause = np.zeros(8_000, dtype=np.float32)
    audio = np.concatenate([part for name in names for part in (librivox[name][0], pause)])
    assert len(audio) > 35 * 16_000
    heard = moonshine.transcribe(audio)
    assert wer.rate([(" ".join(librivox[name][1] for name in names), heard.text)]) <= 0.05
    earlier = moonshine.transcribe(audio[: 33 * 16_000])
    assert moonshine.transcribe(audio, earlier=earlier) == heard


@pytest.mark.models
def test_no_words_are_made_up(moonshine: Moonshine, wordless: dict[str, Block]) -> None:
    heard = {kind: moonshine.transcribe(audio).text for kind, audio in wordless.items()}
    assert heard == dict.fromkeys(wordless, "")


@pytest.mark.models
@pytest.mark.parametrize("gain", [0.02, 20.0], ids=["quiet", "clipped"])
def test_quiet_and_clipped_speech_is_heard(
    gain: float, moonshine: Moonshine, librivox: Recordings
) -> None:
    audio, words = librivox["librivox_0870"]
    assert wer.rate([(words, moonshine.transcribe(audio * np.float32(gain)).text)]) <= 0.1


@pytest.mark.models
def test_it_stops_between_steps(moonshine: Moonshine, librivox: Recordings) -> None:
    audio, _ = librivox["librivox_0870"]
    asked = [0]

    def stop() -> bool:
        asked[0] += 1
        return asked[0] > 5

    heard = moonshine.transcribe(audio, stop=stop)
    assert asked[0] == 6
    assert 0 < len(heard.tokens) < 6
    assert moonshine.transcribe(audio, stop=lambda: True).text == ""


@pytest.mark.models
def test_it_cannot_be_used_after_close(resources: Resources) -> None:
    closed = Moonshine(MoonshineConfig(), resources)
    closed.close()
    closed.close()
    with pytest.raises(RuntimeError, match="close"):
        closed.transcribe(empty())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\"'What is it?'", "What is it?"),
        ("\u201cHello.", "Hello."),
        ("Don't say 'no'.", "Don't say 'no'."),
        ("", ""),
    ],
)
def test_speech_is_not_put_in_quotation_marks(text: str, said: str) -> None:
    assert unquoted(text) == said


@pytest.mark.models
def test_clear_speech_is_written_down_with_more_confidence(
    resources: Resources, librivox: Recordings
) -> None:
    """The mean log probability of a token: what an unsure transcript is dropped by."""
    moonshine = Moonshine(MoonshineConfig(), resources)
    clear, _ = librivox["librivox_0880"]
    noise = np.random.default_rng(0).standard_normal(len(clear)).astype(np.float32)
    level = 0.7 * float(np.sqrt(np.mean(clear**2)))
    noisy = (clear + level * noise).astype(np.float32)
    sure, unsure = (moonshine.transcribe(each).confidence for each in (clear, noisy))
    assert sure is not None
    assert unsure is not None
    assert unsure < sure <= 0.0
    assert sure > -0.35
    assert moonshine.transcribe(empty()).confidence is None


def with_words(resources: Resources, *words: str) -> Moonshine:
    return Moonshine(MoonshineConfig(), Resources(resources.store, 1, words=words))


@pytest.mark.models
def test_taught_words_are_written_where_they_were_said(
    resources: Resources, librivox: Recordings
) -> None:
    """Untaught, the model writes "ill-sposed" and "ill-disposed"."""
    moonshine = with_words(resources, "ill disposed", "Jon Dashwoode=John Dashwood")
    heard = {name: moonshine.transcribe(audio).text for name, (audio, _) in librivox.items()}
    assert "an ill disposed young man" in heard["librivox_0880"]
    assert "to be ill disposed" in heard["librivox_0890"]
    assert "Mr. Jon Dashwoode had" in heard["librivox_0870"]


@pytest.mark.models
def test_what_only_sounds_like_a_taught_word_stays(
    resources: Resources, librivox: Recordings
) -> None:
    """All of these are proposed, and the decoder finds them far less likely."""
    audio, _ = librivox["librivox_0880"]
    taught = with_words(resources, "Mann", "Younger", "Marian")
    plain = with_words(resources)
    assert taught.transcribe(audio) == plain.transcribe(audio)
