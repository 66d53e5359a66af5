"""The benchmark of recognisers: recordings with their words, and the figures of what was heard."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from s2s.bench.hearing.recognisers import measured, recordings
from s2s.core.audio import Block
from s2s.stt.base import Transcription
from tests.support.recordings import DATA


class Deaf:
    """Hears every other recording."""

    def __init__(self) -> None:
        self.calls = 0

    def transcribe(self, audio: Block, **options: object) -> Transcription:
        self.calls += 1
        return Transcription("one two" if self.calls <= 2 else "")

    def warm(self) -> None: ...

    def close(self) -> None: ...


def test_recordings_have_words() -> None:
    found = recordings(DATA)
    assert len(found) == 6
    assert found[-1][1] == "go forward ten meters"
    assert all(len(audio) > 16_000 for audio, _ in found)


def test_errors_are_counted_over_all() -> None:
    second = np.ones(16_000, dtype=np.float32)
    deaf = Deaf()
    figures = measured(deaf, [(second, "one two"), (second, "three four")])  # type: ignore[arg-type]
    assert (figures.errors, figures.words, deaf.calls) == (0.5, 4, 4)
    assert figures.rtf >= 0.0


@pytest.mark.models
def test_a_real_one_is_measured() -> None:
    """In a process of its own: what other tests have loaded is not its memory."""
    command = [sys.executable, "-m", "s2s.bench.hearing.recognisers", "--stt", "moonshine"]
    done = subprocess.run(
        [*command, "--threads", "1", str(DATA)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["errors"] < 0.1
    assert told["words"] == 74
    assert told["memory_mb"] > 1
