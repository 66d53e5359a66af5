"""What is loaded for a session: threads for each stage, warming up, and how quick the voice is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from s2s.app import loading
from s2s.app.loading import (
    Threads,
    close_models,
    create_voice,
    load_models,
    real_time_factor,
    to_fetch,
    warm_up,
)
from s2s.config import registry
from s2s.config.loader import load
from s2s.config.schema import Config, LanguageVoiceConfig, LlmConfig, SttConfig, TtsConfig
from s2s.models.resources import Resources
from s2s.models.store import Store, StoreError
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.testing.simulator import EnergyVad
from s2s.tts.backends.hibari import HibariConfig
from s2s.tts.backends.mms.backend import MmsConfig
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.spare_voice import SpareVoice
from tests.support.voices import ScriptedVoice


@pytest.mark.parametrize(("cores", "expected"), [(1, (1, 1, 1)), (2, (1, 2, 1)), (16, (3, 4, 1))])
def test_threads_are_shared_out_by_cores(
    cores: int, expected: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "cores", lambda: cores)
    threads = Threads.of(Config())
    assert (threads.stt, threads.llm, threads.tts) == expected


def test_threads_that_are_set_are_used() -> None:
    config = Config(stt=SttConfig(threads=7), llm=LlmConfig(threads=8), tts=TtsConfig(threads=9))
    assert Threads.of(config) == Threads(7, 8, 9)


class Part:
    """Any model; notes what is done with it."""

    capabilities = Capabilities(1000, True, ("de",))

    def __init__(self, name: str, done: list[str], samples: int = 500) -> None:
        self._name, self._done, self._samples = name, done, samples

    def warm(self, *_: object) -> None:
        self._done.append(f"warm {self._name}")

    def close(self) -> None:
        self._done.append(f"close {self._name}")

    def probability(self, _: object) -> float:
        self._done.append(f"hear {self._name}")
        return 0.0

    def synthesize(self, text: str, **_: object) -> Iterator[AudioChunk]:
        yield AudioChunk(np.zeros(self._samples, np.float32))


class QuickPart(Part):
    real_time_factor = 0.25
    measured_how = ""
    description = "quick"


def models(done: list[str]) -> Models:
    parts = {name: Part(name, done) for name in ("end", "stt", "llm", "tts")}
    return Models(EnergyVad(), parts["end"], parts["stt"], parts["llm"], parts["tts"])  # pyright: ignore


def test_the_voice_is_warmed_up_last_when_nothing_else_computes() -> None:
    done: list[str] = []
    warm_up(models(done), SessionConfig())
    assert done == ["hear end", "warm stt", "warm llm", "warm tts"]


def test_all_are_closed() -> None:
    done: list[str] = []
    close_models(models(done))
    assert sorted(done) == ["close llm", "close stt", "close tts"]


def test_a_voice_that_measures_itself_is_believed() -> None:
    assert real_time_factor(QuickPart("tts", [])) == 0.25  # pyright: ignore[reportArgumentType]


def test_another_one_is_timed_on_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 10.2])
    monkeypatch.setattr(loading.time, "perf_counter", lambda: next(times))
    assert real_time_factor(Part("tts", [])) == pytest.approx(0.4)  # pyright: ignore


def test_a_voice_that_says_nothing_is_not_slow() -> None:
    assert real_time_factor(Part("tts", [], samples=0)) == 0.0  # pyright: ignore


def test_what_must_be_fetched_is_told_with_its_size_and_offline_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    config = load("embedded", environment={})
    told = to_fetch(config, store)
    assert "smollm2-135m (98.4 MB)" in told
    assert told.endswith("153.8 MB in all.")
    with pytest.raises(StoreError, match=r"153\.8 MB in all\. HF_HUB_OFFLINE forbids that"):
        load_models(config, store, lambda _: None)
    assert to_fetch(config, Store(tmp_path, manifest={})) == ""


def test_a_voice_for_each_language_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple[str, object]] = []

    def create(name: str, options: object, resources: Resources) -> ScriptedVoice:
        made.append((name, options))
        return ScriptedVoice("de" if name == "mms" else "en")

    monkeypatch.setattr(registry, "create_synthesizer", create)
    given = "{de: {backend: mms, options: {language: de}}, fr: {voice: x}}"
    config = load("embedded", environment={}, flags=[("--set", "tts.by_language", given)])
    voice = create_voice(config.tts, Resources(Store(tmp_path, manifest={})))
    assert voice.capabilities.languages == ("en", "de", "fr")
    assert made == [("hibari", HibariConfig()), ("mms", MmsConfig(language="de"))]
    assert isinstance(
        create_voice(TtsConfig(), Resources(Store(tmp_path, manifest={}))), ScriptedVoice
    )


def test_a_voice_that_does_not_load_closes_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = ScriptedVoice("en")

    def create(name: str, options: object, resources: Resources) -> ScriptedVoice:
        if name == "mms":
            raise TtsError("no such voice")
        return first

    monkeypatch.setattr(registry, "create_synthesizer", create)
    config = TtsConfig(by_language={"de": LanguageVoiceConfig("mms", options=MmsConfig())})
    with pytest.raises(TtsError, match="no such voice"):
        create_voice(config, Resources(Store(tmp_path, manifest={})))
    assert first.closed == 1


def test_a_spare_voice_is_one_of_its_backends_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[tuple[str, object]] = []

    def create(name: str, options: object, resources: Resources) -> ScriptedVoice:
        if name == "mms":
            raise TtsError("no such voice")
        made.append((name, options))
        return ScriptedVoice("en")

    monkeypatch.setattr(registry, "create_synthesizer", create)
    resources = Resources(Store(tmp_path, manifest={}))
    voice = create_voice(TtsConfig("openai", spare="hibari"), resources)
    assert isinstance(voice, SpareVoice)
    assert made == [("openai", None), ("hibari", None)]
    with pytest.raises(TtsError, match="no such voice"):
        create_voice(TtsConfig("openai", spare="mms"), resources)


class OnCard(Part):
    def __init__(self, where: str) -> None:
        self.where = where


def test_models_on_a_graphics_card_say_so() -> None:
    made = [Part("stt", []), OnCard("faster-whisper on cuda"), OnCard("")]
    assert loading.on_cards(made) == ["faster-whisper on cuda"]
