"""A record held again: with the same settings the same decisions, with others what would differ."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from s2s.config.schema import Config
from s2s.core.clock import Clock
from s2s.records import files, settings
from s2s.records.folder import SessionRecord, read_record
from s2s.records.replay.differences import decisions
from s2s.records.replay.held import HeldAgain, heard_openly, hold_again, over_echo
from s2s.records.replay.memory import CallMemory
from s2s.records.replay.models import ChangedStages, OtherModels, models_of
from s2s.session.models import Models
from s2s.testing.random_conversations import conversation
from s2s.testing.simulator import EnergyVad, Simulation
from s2s.turns.interruption import Rule
from tests.support.records import recorded


def nobody() -> NoReturn:
    pytest.fail("another model is asked")


def again(record: SessionRecord, config: Config | None = None) -> HeldAgain:
    """Hold it again; nothing but its voice activity is computed."""
    config = config or settings.read(record.folder / files.SETTINGS)
    memory = CallMemory(record.calls())
    others = OtherModels(EnergyVad(), nobody, nobody, nobody, nobody)

    def models(clock: Clock) -> Models:
        return models_of(record, memory, others, ChangedStages(), clock)

    return hold_again(record, config, models)


def test_the_same_settings_give_the_same_decisions_at_the_same_times(
    held: tuple[Path, Simulation],
) -> None:
    folder, simulation = held
    record = read_record(folder)
    now = again(record)
    assert decisions(now.events) == decisions(simulation.events)
    assert len(decisions(now.events)) >= 8
    assert [type(event) for _, event in now.events] == [type(e) for _, e in simulation.events]
    for (now_s, _), (then_s, event) in zip(now.events, simulation.events, strict=True):
        assert now_s == pytest.approx(then_s, abs=0.002), event


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_random_conversations_are_decided_the_same_way(tmp_path: Path, seed: int) -> None:
    simulation = conversation(seed)
    folder, _ = recorded(tmp_path, simulation)
    record = read_record(folder)
    assert decisions(again(record).events) == decisions(record.events)


def test_other_settings_show_what_would_differ(held: tuple[Path, Simulation]) -> None:
    """Where speech over an answer is to change nothing, the answer goes on."""
    folder, _ = held
    record = read_record(folder)
    config = settings.read(folder / files.SETTINGS)
    turns = config.session.turns
    interruption = replace(turns.interruption, rules=(Rule("whatever is said", "restore"),))
    session = replace(config.session, turns=replace(turns, interruption=interruption))
    other = again(record, replace(config, session=session))
    assert "interruption: restore (whatever is said)" in decisions(other.events)
    assert decisions(other.events) != decisions(record.events)
    assert other.duration_s > 5
    assert other.assistant.any()


def test_the_microphone_is_open_in_a_replay() -> None:
    config = Simulation([]).config
    turns = replace(config.turns, input=replace(config.turns.input, push_to_talk=True, muted=True))
    opened = heard_openly(replace(config, turns=turns)).turns.input
    assert (opened.push_to_talk, opened.muted) == (False, False)


def test_the_echo_of_each_window_comes_back(own_record: Path) -> None:
    folder = own_record
    assert over_echo(read_record(folder)) == {}
    (folder / files.ECHO).write_text('{"window": 3, "over_echo_db": 1.5}\n{"window": "x"}\n')
    found = over_echo(read_record(folder))
    assert found == {3: 1.5}
    assert found.get(4, math.inf) == math.inf
