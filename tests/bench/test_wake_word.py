"""Wake words that are measured: where they are recognised, how late, and what is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from s2s.bench import wake_word
from s2s.bench.wake_word import WAYS, measure, recognised
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ


class Loud:
    """Recognises the third window of anything loud, once a stream."""

    def __init__(self, *_: object) -> None: ...

    def open(self) -> SimpleNamespace:
        seen = [0]

        def heard(block: np.ndarray) -> str | None:
            seen[0] += bool(np.abs(block).max() > 0.1)
            return "word" if seen[0] == 3 and np.abs(block).max() > 0.1 else None

        return SimpleNamespace(heard=heard)


def word(windows: float) -> np.ndarray:
    return np.full(int(windows * BLOCK_SAMPLES), 0.5, np.float32)


def test_a_word_is_recognised_at_a_sample_of_its_own_sound() -> None:
    (at,) = recognised(Loud(), word(8))  # type: ignore[arg-type]
    assert at == pytest.approx(3 * BLOCK_SAMPLES, abs=BLOCK_SAMPLES)
    assert recognised(Loud(), word(1)) == []  # type: ignore[arg-type]


def test_what_is_recognised_and_what_is_a_false_alarm_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wake_word, "MicroWakeModel", Loud)
    silence = np.zeros(PIPELINE_HZ, np.float32)
    found = measure("alexa", {WAYS[0]: [word(8), word(1)], WAYS[1]: [word(8)]}, [silence, word(9)])
    assert (found.word, found.said, found.recognised, found.false_alarms) == ("alexa", 3, 2, 1)
    assert len(found.late_ms) == 1  # only where the word is said alone
    assert -400 < found.late_ms[0] < 0  # before its end
    assert found.speech_s == pytest.approx(1.0 + 9 * BLOCK_SAMPLES / PIPELINE_HZ)
    assert found.real_time_factor >= 0
