"""Conversations with speech over a reply: what is told of each, and the sums."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.interruptions import (
    LEVEL,
    REPLY,
    Clip,
    Outcome,
    Timed,
    outcome,
    rows,
    trimmed,
)
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.clock import ManualClock
from s2s.stt.base import Transcription
from s2s.testing.simulator import Said, Simulation, tone


def held(text: str, *, backchannel: bool) -> Outcome:
    """What became of a reply of scripted models over which `text` is said."""
    clip = Clip(text, "nobody", tone(max(0.4, len(text) / 14), 260.0), backchannel)
    wait = np.zeros(4 * PIPELINE_HZ, np.float32)
    over = Said(np.concatenate([wait, clip.audio]), text, None)
    replies = iter((REPLY,))
    simulation = Simulation(
        [Said(tone(2.0), "what is the weather like"), over],
        answer=lambda _: next(replies, "Fine."),
    ).run()
    (_, _), (start, _) = simulation.script.said
    return outcome(clip, simulation, (start + len(wait)) / PIPELINE_HZ)


def test_words_that_stop_the_reply_are_timed() -> None:
    found = held("what about the planet mars then", backchannel=False)
    assert found.right
    assert found.silenced
    assert 0 < found.stop_ms < 3000


def test_a_backchannel_lets_it_go_on() -> None:
    assert held("yeah", backchannel=True).right


def test_silence_around_a_voice_goes_and_its_level_is_usual() -> None:
    silence = np.zeros(4000, np.float32)
    sound = trimmed(np.concatenate([silence, tone(1.0), silence]))
    assert len(sound) == pytest.approx(PIPELINE_HZ, abs=400)
    assert np.abs(sound).max() == pytest.approx(LEVEL)


def clip(*, backchannel: bool) -> Clip:
    return Clip("x", "v", np.zeros(1, np.float32), backchannel)


def test_the_sums_are_by_kind() -> None:
    kinds = [True, True, False, False]
    found = rows(
        [clip(backchannel=kind) for kind in kinds],
        [
            Outcome(True, False, 0.0, 0.0, "yeah"),
            Outcome(False, True, 500.0, 9.0, ""),
            Outcome(True, True, 300.0, 40.0, "stop"),
            Outcome(False, False, 0.0, 0.0, ""),
        ],
    )
    assert found == {
        "backchannels": 2,
        "backchannels_resumed_rate": 0.5,
        "backchannels_never_silenced_rate": 0.5,
        "interruptions": 2,
        "interruptions_cancelled_rate": 0.5,
        "stop_ms_p50": 300.0,
        "stop_ms_p95": 300.0,
        "stop_after_decision_ms_p95": 40.0,
    }
    assert rows([], []) == {"backchannels": 0, "interruptions": 0}


def test_a_transcript_costs_on_the_clock_what_it_used_of_a_processor() -> None:
    class Ear:
        def transcribe(self, audio: Block, **_: object) -> Transcription:
            return Transcription("hi")

        def warm(self) -> None: ...

        def close(self) -> None: ...

    clock, costs, used = ManualClock(), list[float](), iter([3.0, 3.25])
    ear = Timed(Ear(), clock, costs, lambda: next(used))  # type: ignore[arg-type]
    assert ear.transcribe(tone(0.1)).text == "hi"
    assert (clock.now(), costs) == (0.25, [0.25])
