"""The Piper backend: small voices with letters as phonemes, and the real voice joe."""

from pathlib import Path

import numpy as np
import pytest

from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.piper import Piper, PiperConfig
from s2s.tts.base import AudioChunk, TtsError
from s2s.tts.vits import Manner, load_voice
from tests.support.vits import LETTERS, voice_folder


def resources(tmp_path: Path) -> Resources:
    return Resources(Store(tmp_path / "store", manifest={}), threads=1)


def piper(tmp_path: Path, name: str = "plain", config: PiperConfig | None = None, **fields: object):
    folder = voice_folder(tmp_path, name, **fields)
    config = config or PiperConfig(model=str(folder), seed=1)
    return Piper(config, resources(tmp_path))


def samples(chunks: list[AudioChunk]) -> int:
    return sum(len(chunk.samples) for chunk in chunks)


def test_what_is_spoken_grows_word_by_word(tmp_path: Path) -> None:
    text = "one two, three. and four!"
    chunks = list(piper(tmp_path).synthesize(text))
    spoken = [chunk.spoken_chars for chunk in chunks]
    assert None not in spoken
    assert spoken == sorted(spoken, key=lambda n: n or 0)
    assert {3, 8, 15, 19, 25} <= set(spoken)
    assert spoken[-1] == len(text)


def test_chunks_are_the_voices_own_sound(tmp_path: Path) -> None:
    backend = piper(tmp_path)
    text = "one two three."
    joined = np.concatenate([chunk.samples for chunk in backend.synthesize(text)])
    voice = load_voice(tmp_path / "plain", threads=1)
    direct = np.concatenate([sound.samples for sound in voice.speak(text, Manner(seed=1))])
    assert np.array_equal(joined, direct)


def test_capabilities_are_the_voices(tmp_path: Path) -> None:
    speakers = {"num_speakers": 3, "speaker_id_map": {"anna": 0, "otto": 2}}
    backend = piper(tmp_path, "speakers", language={"family": "de"}, **speakers)
    able = backend.capabilities
    assert (able.sample_rate_hz, able.languages) == (22050, ("de",))
    assert able.voices == ("anna", "otto")
    assert able.streaming
    assert able.word_timing
    anna = np.concatenate([c.samples for c in backend.synthesize("abc.", voice="anna")])
    otto = np.concatenate([c.samples for c in backend.synthesize("abc.", voice="otto")])
    assert not np.array_equal(anna, otto)
    with pytest.raises(TtsError, match="no speaker 'emil'"):
        list(backend.synthesize("abc.", voice="emil"))


def test_a_voice_that_cannot_stream_says_so(tmp_path: Path) -> None:
    able = piper(tmp_path, "foreign").capabilities
    assert not able.streaming
    assert not able.word_timing


def test_options_change_the_speech(tmp_path: Path) -> None:
    folder = voice_folder(tmp_path, "steady")
    text = "one. two."

    def length(**options: object) -> int:
        config = PiperConfig(model=str(folder), seed=1, **options)  # type: ignore[arg-type]
        return samples(list(Piper(config, resources(tmp_path)).synthesize(text)))

    plain = length()
    assert length(length_scale=2.0) > 1.5 * (plain - 4410)
    assert plain - length(sentence_silence_ms=0) == 4410


def test_stop_and_closing_end_the_sound(tmp_path: Path) -> None:
    backend = piper(tmp_path)
    text = "one two three four. " * 10
    whole = samples(list(backend.synthesize(text)))
    asked = iter(range(1000))
    stopped = list(backend.synthesize(text, stop=lambda: next(asked) > 6))
    assert 0 < samples(stopped) < whole // 4
    chunks = backend.synthesize(text)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    assert list(chunks) == []


def test_warm_and_close(tmp_path: Path) -> None:
    backend = piper(tmp_path)
    backend.warm()
    backend.close()
    backend.close()
    with pytest.raises(TtsError, match="after it was closed"):
        list(backend.synthesize("abc"))


def test_a_missing_voice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TtsError, match="no such file or folder"):
        Piper(PiperConfig(model=str(tmp_path / "none.onnx")), resources(tmp_path))


# --- joe ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def joe() -> Piper:
    pytest.importorskip("piper")
    return Piper(PiperConfig(seed=1, threads=1), Resources(Store(), threads=1))


@pytest.mark.models("piper-joe")
def test_joe_tells_every_word(joe: Piper) -> None:
    text = "One of the 1999 things costs $5.50, I'm told. How are you?"
    spoken = [chunk.spoken_chars for chunk in joe.synthesize(text)]
    ends = {end for end in range(1, len(text) + 1) if text[end : end + 1] in ("", " ")}
    assert ends <= set(spoken)


@pytest.mark.models("piper-joe")
def test_joe_starts_before_the_sentence_is_done(joe: Piper) -> None:
    text = "When the first settlers arrived they found a wide river and a quiet meadow."
    chunks = joe.synthesize(text)
    first = next(chunks)
    assert len(first.samples) < 0.3 * joe.capabilities.sample_rate_hz
    assert samples(list(chunks)) > 3 * joe.capabilities.sample_rate_hz


@pytest.mark.parametrize("name", ["plain", "speakers", "foreign", "pooled"])
@pytest.mark.parametrize("number", [999, 2**31, 2**40])
def test_a_phoneme_beyond_the_model_is_named_with_the_voice(
    tmp_path: Path, name: str, number: int
) -> None:
    fields: dict[str, object] = {"phoneme_id_map": dict(LETTERS) | {"a": [number]}}
    with pytest.raises(
        TtsError, match=rf"json: phoneme 'a' has the number {number}, and the model"
    ):
        samples(list(piper(tmp_path, name, **fields).synthesize("ba ba.")))
