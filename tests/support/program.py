"""The program without models: a voice, an ear and a microphone's ear that only count, and a home of
its own, for tests of what its commands do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from s2s.app.commands import transcribe
from s2s.config import registry
from s2s.stt.base import Transcription
from s2s.tts.base import AudioChunk, Capabilities


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting comes from outside, and S2S_HOME is an empty folder."""
    for name in [name for name in os.environ if name.startswith("S2S_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("S2S_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


class ToneVoice:
    """Says a tone a word."""

    capabilities = Capabilities(16_000, True, ("en",))

    def synthesize(self, text: str, **_: object) -> Iterator[AudioChunk]:
        for _word in text.split():
            yield AudioChunk(np.full(1600, 0.25, dtype=np.float32))

    def close(self) -> None: ...


class CountingEar:
    """Hears how long a recording is."""

    def transcribe(self, audio: np.ndarray, **_: object) -> Transcription:
        return Transcription(f"{len(audio)} samples")

    def close(self) -> None: ...


class Attentive:
    """Takes everything for speech."""

    def open(self) -> Attentive:
        return self

    def probability(self, block: np.ndarray) -> float:
        return 1.0

    def reset(self) -> None: ...


@pytest.fixture
def backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands get these doubles for the models they ask for."""
    monkeypatch.setattr(registry, "create_synthesizer", lambda *_: ToneVoice())
    monkeypatch.setattr(registry, "create_transcriber", lambda *_: CountingEar())
    monkeypatch.setattr(transcribe, "open_vad", lambda *_: Attentive())
