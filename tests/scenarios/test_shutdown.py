"""Reports of programs that do not end, as regression tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from s2s.core.audio import PIPELINE_HZ
from s2s.core.clock import Clock
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.testing.simulator import Simulation
from tests.scenarios.conversations import (
    QUESTION,
    Hung,
    actions,
    long_answer,
    room,
    said_after,
    statuses,
)


def closing_s(simulation: Simulation) -> float:
    """Seconds from the last window that was heard to the end of the session."""
    return simulation.clock.now() - len(simulation.transport.person()) / PIPELINE_HZ


def test_a_session_that_is_paused_can_be_closed() -> None:
    """pipecat PR#5106: a speech that was paused and never resumed blocks the shutdown."""
    hum = said_after(2.0, "", 1.5)
    simulation = Simulation([QUESTION, hum], answer=long_answer, room=room(ends_s=5.2)).run()
    assert actions(simulation) == ["duck", "pause"]
    assert statuses(simulation) == ["cancelled"]
    assert closing_s(simulation) < 0.2
    assert stages_alive() == []


HANGS = {
    "language model": Hung(60.0).chat,
    "speech synthesis": Hung(60.0).synthesizer,
    "both": lambda models, clock: Hung(60.0).synthesizer(
        Hung(60.0, after_tokens=40).chat(models, clock), clock
    ),
}


@pytest.mark.parametrize("models", HANGS.values(), ids=HANGS)
def test_closing_does_not_wait_for_models_that_never_return(
    models: Callable[[Models, Clock], Models],
) -> None:
    """RealtimeSTT#20, #171: joining a thread that is within a model hangs for ever."""
    simulation = Simulation([QUESTION], answer=long_answer, models=models, room=room(ends_s=6.0))
    simulation.run()
    assert 1.0 < closing_s(simulation) <= 2.1
    assert set(statuses(simulation)) <= {"cancelled"}
    simulation.clock.wait_until(simulation.clock.now() + 60.0)
    assert stages_alive() == []


def test_closing_twice_is_closing_once() -> None:
    """LocalAI's invariants of a session: closing is idempotent."""
    simulation = Simulation([QUESTION]).run()
    events = len(simulation.events)
    simulation.session.close()
    assert len(simulation.events) == events
