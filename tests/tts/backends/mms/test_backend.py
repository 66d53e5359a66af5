"""MMS as a backend: a small voice a language, in the layout of the hub."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.mms.backend import HUB, Mms, MmsConfig, Written
from s2s.tts.base import TtsError
from tests.support.mms import mms_voice


@pytest.fixture
def models(tmp_path: Path) -> Path:
    for name in ("eng", "deu"):
        mms_voice(tmp_path / "models" / name)
    return tmp_path / "models"


def resources(tmp_path: Path) -> Resources:
    return Resources(Store(tmp_path / "store", manifest={}), threads=1)


def sound(voice: Mms, text: str, language: str | None = None) -> Block:
    chunks = voice.synthesize(text, language=language)
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])


def test_each_language_has_its_voice(models: Path, tmp_path: Path) -> None:
    config = MmsConfig(language="en", languages=("de",), model=str(models), seed=1)
    voice = Mms(config, resources(tmp_path))
    able = voice.capabilities
    assert able.languages == ("en", "de")
    assert able.sample_rate_hz == 16_000
    assert able.streaming
    assert able.word_timing
    for language in able.languages:
        assert sound(voice, "one two.", language).size
    spoken = [chunk.spoken_chars for chunk in voice.synthesize("one two, three.")]
    assert {3, 8, 15} <= set(spoken)
    with pytest.raises(TtsError, match="no voice for 'sv'"):
        sound(voice, "abc.", "sv")
    assert not sound(voice, "...").size
    voice.warm()
    voice.close()
    with pytest.raises(TtsError, match="closed"):
        sound(voice, "abc.")


def test_a_language_that_was_not_named_is_loaded_behind_the_one_that_speaks(
    models: Path, tmp_path: Path
) -> None:
    voice = Mms(MmsConfig(language="en", model=str(models), seed=1), resources(tmp_path))
    assert [voice.offers(code) for code in ("en", "de", "sv")] == [True, True, False]
    assert voice.prepare("en")
    voice.prepare("de")
    assert sound(voice, "one two.", "de").size
    assert voice.prepare("de")
    assert voice.capabilities.languages == ("en",)
    voice.close()
    never = MmsConfig(language="en", model=str(models), load_heard=False)
    voice = Mms(never, resources(tmp_path))
    assert [voice.offers(code) for code in ("en", "de")] == [True, False]
    voice.close()


def test_it_can_be_stopped_and_told_how(models: Path, tmp_path: Path) -> None:
    quick = Mms(MmsConfig(model=str(models), seed=1, speed=2.0), resources(tmp_path))
    slow = Mms(MmsConfig(model=str(models), seed=1, volume_db=-6.0), resources(tmp_path))
    whole = sound(slow, "one two three four.")
    assert len(sound(quick, "one two three four.")) < 0.7 * len(whole)
    long = "one two three four. " * 5
    asked = iter(range(1000))
    chunks = list(slow.synthesize(long, stop=lambda: next(asked) > 4))
    assert 0 < sum(len(chunk.samples) for chunk in chunks) < len(sound(slow, long)) / 2
    with pytest.raises(ValueError, match="speed"):
        MmsConfig(speed=0.1)
    quick.close()
    slow.close()


def test_a_voice_by_its_own_folder_and_one_that_is_missing(models: Path, tmp_path: Path) -> None:
    alone = Mms(MmsConfig(language="de", model=str(models / "deu")), resources(tmp_path))
    assert sound(alone, "abc.").size
    alone.close()
    with pytest.raises(TtsError, match=r"spa: no folder with the voice of 'es'"):
        Mms(MmsConfig(language="es", model=str(models)), resources(tmp_path))


def test_a_voice_comes_out_of_the_hub(tmp_path: Path) -> None:
    """The folder that the hub client leaves in the store: nothing is asked of a network."""
    store = Store(tmp_path / "store", manifest={})
    repo = HUB.removeprefix("hf://").replace("/", "--")
    mms_voice(store.folder("hub") / f"{repo}@main" / "deu")
    voice = Mms(MmsConfig(language="de"), Resources(store, threads=1))
    assert sound(voice, "abc.").size
    voice.close()
    with pytest.raises(TtsError, match=r"swh/model\.onnx"):
        Mms(MmsConfig(language="sw"), Resources(store, threads=1))


LATIN = {letter: (number,) for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz ")}


def test_text_of_another_script_is_romanised_word_by_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Written("Hello.", LATIN, "en").text == "Hello."
    assert Written("Hello.", LATIN, "en").original(4) == 4
    monkeypatch.setitem(sys.modules, "uroman", None)
    with pytest.raises(TtsError, match="pip install uroman"):
        Written("안녕 여러분", LATIN, "ko")


def test_real_romanisation() -> None:
    pytest.importorskip("uroman")
    written = Written("안녕 여러분", LATIN, "ko")
    assert written.text == "annyeong yeoreobun"
    assert [written.original(n) for n in (0, 7, 8, 17, 18)] == [0, 0, 2, 2, 6]
