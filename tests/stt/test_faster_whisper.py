"""Whisper on CTranslate2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from s2s.bench.hearing import wer
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.models.resources import Resources
from s2s.stt.base import SttError, WordTimingTranscriber
from s2s.stt.faster_whisper import FasterWhisper, FasterWhisperConfig, join_spoken, on_card

pytest.importorskip("faster_whisper")


def segment(text: str, *, silent: float = 0.0, log_prob: float = -0.2, zip_ratio: float = 1.0):
    return SimpleNamespace(
        text=text, no_speech_prob=silent, avg_logprob=log_prob, compression_ratio=zip_ratio
    )


def test_what_was_not_spoken_is_dropped() -> None:
    config = FasterWhisperConfig()
    segments = [
        segment(" Hello"),
        segment(" you", silent=0.8, log_prob=-1.3),
        segment(" sure in noise", silent=0.8),
        segment(" unsure", log_prob=-1.3),
        segment(" la la la la la la", zip_ratio=2.5),
        segment(" . ♪"),
    ]
    assert join_spoken(segments, config) == "Hello sure in noise unsure"  # pyright: ignore


def test_a_folder_without_a_model(tmp_path: Path, resources: Resources) -> None:
    with pytest.raises(SttError, match="cannot be loaded"):
        FasterWhisper(FasterWhisperConfig(model=str(tmp_path)), resources)


def test_a_size_that_is_not_here_while_offline(
    resources: Resources, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(SttError, match="medium cannot be loaded"):
        FasterWhisper(FasterWhisperConfig(model="medium"), resources)


@pytest.fixture(scope="module")
def tiny(resources: Resources) -> FasterWhisper:
    return FasterWhisper(FasterWhisperConfig(model="tiny.en"), resources)


@pytest.mark.models("whisper-tiny.en")
def test_recordings_are_heard_with_at_most_eight_percent_errors(
    tiny: FasterWhisper, librivox: dict[str, tuple[Block, str]]
) -> None:
    heard = [(words, tiny.transcribe(audio)) for audio, words in librivox.values()]
    assert wer.rate((words, transcription.text) for words, transcription in heard) <= 0.08
    assert {transcription.language for _, transcription in heard} == {"en"}


@pytest.mark.models("whisper-tiny.en")
def test_no_words_are_made_up(tiny: FasterWhisper, wordless: dict[str, Block]) -> None:
    heard = {kind: tiny.transcribe(audio).text for kind, audio in wordless.items()}
    assert heard == dict.fromkeys(wordless, "")


@pytest.mark.models("whisper-tiny.en")
def test_stop_is_asked_before_each_window(
    tiny: FasterWhisper, librivox: dict[str, tuple[Block, str]]
) -> None:
    audio, _ = librivox["librivox_0930"]
    assert tiny.transcribe(audio, stop=lambda: True).text == ""


@pytest.mark.models("whisper-tiny.en")
def test_taught_words_are_written_as_taught(
    resources: Resources, librivox: dict[str, tuple[Block, str]]
) -> None:
    """Untaught, the model writes "old-sposed"."""
    taught = Resources(resources.store, 1, words=("ill disposed", "Dashwood"))
    model = FasterWhisper(FasterWhisperConfig(model="tiny.en"), taught)
    text = model.transcribe(librivox["librivox_0880"][0]).text
    assert "ill disposed" in text.replace("-", " ")
    assert text.endswith(".")


@pytest.mark.models("whisper-tiny.en")
def test_it_tells_when_each_word_was_said(
    tiny: FasterWhisper, librivox: dict[str, tuple[Block, str]]
) -> None:
    """The same words, in order, within the sound; and a second of silence before all shifts them by
    a second."""
    assert isinstance(tiny, WordTimingTranscriber)
    audio, _ = librivox["librivox_0930"]
    plain, timed = tiny.transcribe(audio), tiny.transcribe_words(audio)
    assert (timed.text, timed.language) == (plain.text, plain.language)
    assert [word.text for word in timed.words] == plain.text.split()
    starts = [word.start_s for word in timed.words]
    assert starts == sorted(starts)
    assert 0 <= starts[0] < timed.words[-1].end_s <= len(audio) / PIPELINE_HZ + 0.1
    later = tiny.transcribe_words(np.concatenate([np.zeros(PIPELINE_HZ, np.float32), audio]))
    moved = [word.start_s for word in later.words]
    assert len(moved) == len(starts)
    shifts = [there - here for here, there in zip(starts[1:], moved[1:], strict=True)]
    assert max(abs(shift - 1.0) for shift in shifts) <= 0.2
    assert plain.words == ()
    assert tiny.transcribe_words(np.zeros(PIPELINE_HZ, np.float32)).words == ()


@pytest.mark.models("whisper-base")
def test_the_language_is_heard(
    resources: Resources, librivox: dict[str, tuple[Block, str]]
) -> None:
    base = FasterWhisper(FasterWhisperConfig(model="base"), resources)
    audio, words = librivox["librivox_0930"]
    heard = base.transcribe(audio)
    assert heard.language == "en"
    assert heard.languages["en"] == max(heard.languages.values()) > 0.8
    assert wer.rate([(words, heard.text)]) <= 0.15
    assert base.transcribe(audio, language="de").language == "de"
    base.close()
    base.close()
    with pytest.raises(RuntimeError, match="close"):
        base.transcribe(audio)


class Loaded:
    """A model on a device, whose libraries may be missing."""

    def __init__(self, device: str, lacks: str = "") -> None:
        self.device = device
        self._lacks = lacks

    def transcribe(self, audio: Block, **_: object) -> tuple[Iterator[str], None]:
        def segments() -> Iterator[str]:
            if self._lacks:
                raise RuntimeError(self._lacks)
            yield "Thank you."

        assert len(audio) == PIPELINE_HZ
        return segments(), None


@pytest.mark.parametrize(
    ("device", "cards", "taken", "said"),
    [
        ("auto", 0, "cpu", ""),
        ("auto", 1, "cuda", "faster-whisper on cuda"),
        ("cpu", 1, "cpu", ""),
        ("cuda", 1, "cuda", "faster-whisper on cuda"),
    ],
)
def test_a_graphics_card_is_taken_by_itself(device: str, cards: int, taken: str, said: str) -> None:
    model, where = on_card(device, Loaded, cards=cards)  # pyright: ignore
    assert (model.device, where) == (taken, said)  # pyright: ignore


def test_a_card_whose_libraries_are_missing_is_left_with_the_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They are missed when something is heard, not when the model is loaded."""
    lacks = "Library libcublas.so.12 is not found or cannot be loaded"

    def opened(device: str) -> Loaded:
        return Loaded(device, lacks if device == "cuda" else "")

    model, where = on_card("auto", opened, cards=1)  # pyright: ignore
    assert (model.device, where) == (  # pyright: ignore
        "cpu",
        f"faster-whisper on the processor (cuda: {lacks})",
    )
    assert f"computed on the processor: {lacks}" in caplog.text


def test_a_model_that_a_card_cannot_load_is_on_the_processor_too() -> None:
    def opened(device: str) -> Loaded:
        if device == "cuda":
            raise ValueError("Requested int8 compute type, but the device does not support it")
        return Loaded(device)

    model, where = on_card("auto", opened, cards=1)  # pyright: ignore
    assert model.device == "cpu"  # pyright: ignore
    assert "does not support it" in where
