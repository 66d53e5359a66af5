"""A record held again: with the same settings the same decisions, with others what would differ."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from s2s.config.schema import Config
from s2s.core.audio import from_int16, to_int16
from s2s.core.clock import Clock
from s2s.records import files, settings
from s2s.records.folder import SessionRecord, read_record
from s2s.records.recorder import RecordPlan, SessionRecorder
from s2s.records.replay.differences import decisions
from s2s.records.replay.held import HeldAgain, heard_openly, hold_again, over_echo
from s2s.records.replay.memory import CallMemory
from s2s.records.replay.models import ChangedStages, OtherModels, models_of
from s2s.session.models import Models
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.random_conversations import conversation
from s2s.testing.simulator import (
    EnergyVad,
    Said,
    ScriptedChat,
    ScriptedEndOfTurn,
    ScriptedTranscriber,
    ScriptWords,
    Simulation,
    tone,
)
from s2s.transport.client_playback import ClientSound
from s2s.turns.interruption import Rule
from tests.support.records import recorded

ENDS = {"london": 0.97, "tomorrow": 0.97}


def nobody() -> NoReturn:
    pytest.fail("another model is asked")


def again(
    record: SessionRecord, config: Config | None = None, hears: ScriptWords | None = None
) -> HeldAgain:
    """Hold it again; nothing but its voice activity is computed. hears: who is asked what nobody
    was asked then; None: that is a failure."""
    config = config or settings.read(record.folder / files.SETTINGS)
    memory = CallMemory(record.calls())

    def models(clock: Clock) -> Models:
        others = OtherModels(EnergyVad(), nobody, nobody, nobody, nobody)
        if hears is not None:
            others = replace(
                others,
                transcriber=lambda: ScriptedTranscriber(hears, clock, 0.0),
                end_of_turn=lambda: ScriptedEndOfTurn(hears, ENDS, clock, 0.0),
            )
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


@pytest.mark.parametrize("seed", [3])
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


def test_a_conversation_of_a_server_is_held_as_at_this_machine(tmp_path: Path) -> None:
    words = ("what is the weather like in london", "and what about tomorrow")
    sounds = [from_int16(to_int16(tone(seconds, hz))) for seconds, hz in ((2.0, 180), (1.5, 140))]
    said = [Said(sound, text) for sound, text in zip(sounds, words, strict=True)]
    kept: list[SessionRecorder] = []

    def noted(models: Models) -> Models:
        assert isinstance(models.chat, ScriptedChat)
        plan = RecordPlan(tmp_path, "serve", Config())
        kept.append(SessionRecorder(plan, models, models.chat.clock, pytest.fail))
        return kept[0].models

    class Told(list[tuple[float, object]]):
        def append(self, item: tuple[float, object]) -> None:
            super().append(item)
            if not isinstance(item[1], ClientSound):
                kept[0].on_event(item[1])  # type: ignore[arg-type]

    client = ClientSimulation(said, models=noted, told=Told())  # type: ignore[arg-type]
    opened = client.running()
    with opened:
        client.transport.record(kept[0])
        for number, each in enumerate(said):
            client.say(each)
            client.silence_until_done(number + 1)
            client.silence(6.0)
    kept[0].close()
    kept[0].wait()
    record = read_record(kept[0].folder)
    assert [turn.text for turn in record.story.turns] == list(words)
    assert all(answer.status == "completed" for answer in record.story.answers)
    now = again(record, hears=ScriptWords(said))
    assert [turn.text for turn in now.story.turns] == list(words)
    assert [a.text for a in now.story.answers] == [a.text for a in record.story.answers]
