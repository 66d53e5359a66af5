"""Every backend tells which voices are here."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from s2s.app.voices.listed import LISTED, voices_here
from s2s.config import registry
from s2s.models.store import Store
from tests.support.kokoro import kokoro_folder
from tests.support.vits import voice_folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", manifest={})


def lines(store: Store, name: str) -> list[str]:
    return [f"{voice.flags}: {voice.about}" for voice in LISTED[name](store)]


def test_each_backend_is_asked() -> None:
    assert set(LISTED) == {backend.name for backend in registry.backends("tts")}


@pytest.mark.parametrize("backend", registry.backends("tts"), ids=lambda backend: backend.name)
def test_a_new_machine_fails_nowhere(backend: registry.StageBackend, store: Store) -> None:
    for voice in LISTED[backend.name](store):
        assert f"--tts {backend.name} " in voice.flags
        assert voice.about


def test_what_is_not_installed_is_left_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "missing", lambda backend: backend.requires)
    voice_folder(store.folder("models"), "plain")
    assert {backend for backend, _ in voices_here(store)} == {"piper"}


def test_piper_voices_with_language_and_speakers(store: Store) -> None:
    voice_folder(store.folder("models"), "speakers", num_speakers=3, language={"code": "de_DE"})
    (line,) = lines(store, "piper")
    assert "speakers.onnx: de, 22050 Hz, 3 speakers, cut at first use" in line


def test_kokoros_voices_of_the_model_and_fetched_ones(store: Store) -> None:
    made = kokoro_folder(store.root)
    folder = store.folder("models") / "kokoro-82m"
    shutil.copytree(made, folder)
    np.zeros((510, 256), np.float32).tofile(store.folder("kokoro-voices") / "ff_siwis.bin")
    told = lines(store, "kokoro")
    assert "--tts kokoro --voice ff_siwis: fr, 24000 Hz" in told
    assert "--tts kokoro --voice af_loud: en, 24000 Hz" in told
    assert told[-1].startswith("--tts kokoro --voice NAME: 53 more, fetched: af_alloy")


def test_hibaris_accents(store: Store) -> None:
    pytest.importorskip("hibari")
    told = lines(store, "hibari")
    assert "--tts hibari --voice heart: en, American, comes with the package" in told
    assert "--tts hibari --voice emma: en, British, fetched at first use" in told
