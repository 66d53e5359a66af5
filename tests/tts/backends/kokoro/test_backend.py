"""Kokoro as a backend: cut, stopped and trimmed on a small network, heard back on the real one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block, resample
from s2s.core.clock import ManualClock
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.tts.backends.kokoro import backend
from s2s.tts.backends.kokoro.backend import Kokoro, KokoroConfig, symbols_of
from s2s.tts.backends.kokoro.phonemes import phonemes_for
from s2s.tts.base import TtsError
from tests.support.kokoro import STEP, kokoro_folder

pytest.importorskip("hibari")


once = cache(phonemes_for)  # the lexicon takes a second to load


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Kokoro]:
    monkeypatch.setattr(backend, "phonemes_for", once)
    folder = kokoro_folder(tmp_path)
    empty = Resources(Store(tmp_path / "store", manifest={}), threads=1)

    def made(**options: object) -> Kokoro:
        return Kokoro(KokoroConfig(**{"model": str(folder)} | options), empty)  # type: ignore[arg-type]

    return made


def sound(kokoro: Kokoro, text: str, **options: str) -> Block:
    chunks = kokoro.synthesize(text, **options)  # type: ignore[arg-type]
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])


def test_a_sentence_is_trimmed_and_told(make: Callable[..., Kokoro]) -> None:
    chunks = list(make().synthesize("Hello there.  Fine!"))
    assert [chunk.spoken_chars for chunk in chunks] == [12, 19]
    spoken = len("həlˈO ðˈɛɹ.") * STEP
    assert abs(len(chunks[0].samples) - spoken) < 24 * 250
    assert np.flatnonzero(np.abs(chunks[0].samples) > 0.01)[0] <= 24 * 40


def test_slow_calls_are_cut_at_clauses(
    make: Callable[..., Kokoro], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "SystemClock", ManualClock)  # stands still: as it was assumed
    text = "One two, three four five six seven eight, and nine more of them on that day. Ten."
    ends = [chunk.spoken_chars for chunk in make().synthesize(text)]
    assert ends[0] == len("One two,")
    assert ends[-1] == len(text)
    assert len(ends) > 3


def test_between_two_calls_it_can_be_stopped(make: Callable[..., Kokoro]) -> None:
    text = "One. Two. Three. Four."
    asked = iter([False, False, True])
    chunks = list(make().synthesize(text, stop=lambda: next(asked)))
    assert [chunk.spoken_chars for chunk in chunks] == [4, 9]


def test_speed_and_voices(make: Callable[..., Kokoro]) -> None:
    voice = make(voice="af_soft")
    soft, loud = sound(voice, "Hello."), sound(voice, "Hello.", voice="af_loud")
    assert float(np.abs(loud).max()) == pytest.approx(5 * float(np.abs(soft).max()), rel=1e-3)
    assert voice.capabilities.voices == ("af_loud", "af_soft")
    assert voice.capabilities.languages[0] == "en"
    with pytest.raises(TtsError, match="no voice 'emil'"):
        sound(voice, "Hello.", voice="emil")
    with pytest.raises(ValueError, match="speed"):
        make(speed=3.0)
    louder = sound(make(voice="af_soft", volume_db=6.0), "Hello.")
    assert float(np.abs(louder).max()) > 1.9 * float(np.abs(soft).max())


@pytest.mark.parametrize("text", ["", "  ", "😀🎉", "...", "—", "你好"])
def test_nothing_to_say(make: Callable[..., Kokoro], text: str) -> None:
    assert not sound(make(), text).size


def test_a_language_without_a_package_is_an_error_that_helps(make: Callable[..., Kokoro]) -> None:
    with pytest.raises(TtsError, match="not 'de'"):
        sound(make(), "Hallo.", language="de")
    with pytest.raises(TtsError, match="not 'sv'"):
        make(language="sv")


def test_a_folder_that_is_not_whole(tmp_path: Path) -> None:
    empty = Resources(Store(tmp_path / "store", manifest={}), threads=1)

    def fails(message: str) -> None:
        with pytest.raises(TtsError, match=message):
            Kokoro(KokoroConfig(model=str(folder)), empty)

    folder = kokoro_folder(tmp_path)
    (folder / "voices.npz").unlink()
    fails("no voices beside")
    (folder / "vocab.json").unlink()
    fails(r"no vocab\.json or")
    (folder / "kokoro.onnx").unlink()
    fails(r"expected one \.onnx file in it, found none")
    folder = tmp_path / "nowhere"
    fails("no such file")


def test_it_cannot_be_used_after_close(make: Callable[..., Kokoro]) -> None:
    closed = make()
    closed.warm()
    closed.close()
    closed.close()
    with pytest.raises(TtsError, match="closed"):
        sound(closed, "Hello.")


def test_more_symbols_than_the_model_takes_are_cut_at_a_space() -> None:
    words = "ab " * 400
    parts = list(symbols_of(words))
    assert all(len(part) <= 510 for part in parts)
    assert "".join(parts).replace(" ", "") == words.replace(" ", "")
    assert [len(part) for part in symbols_of("x" * 1100)] == [510, 510, 80]
    assert list(symbols_of("... ")) == []


# --- the real weights -----------------------------------------------------------------------------


@pytest.mark.models("kokoro-82m")
def test_the_embedded_ear_understands_kokoro(resources: Resources) -> None:
    voice = Kokoro(KokoroConfig(), resources)
    text = "The weather looks nice today."
    chunks = list(voice.synthesize(text))
    assert voice.capabilities.voices[0] in ("jf_alpha", "jf_gongitsune")
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert 1.2 < len(samples) / 24_000 < 3.0
    assert chunks[-1].spoken_chars == len(text)
    assert float(np.abs(samples).max()) < 1.0
    ear = Moonshine(MoonshineConfig(), resources)
    heard = ear.transcribe(resample(samples, 24_000, 16_000)).text.lower()
    assert "weather looks nice today" in heard
    voice.close()
