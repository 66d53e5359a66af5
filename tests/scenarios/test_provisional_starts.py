"""Answers that begin before it is certain that the person is done, and yield when they are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.events import (
    Interruption,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
    SpeechStarted,
    TakenBack,
)
from s2s.core.messages import AudioIn
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.testing.random_conversations import violations
from s2s.testing.simulator import Said, Simulation, tone, with_pauses
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, WavTransport
from s2s.turns.config import TurnsConfig
from s2s.turns.grace import GraceConfig
from s2s.turns.provisional import ProvisionalConfig
from tests.scenarios.conversations import (
    Room,
    audible_s,
    done,
    heard,
    long_answer,
    prompts,
    said_after,
    statuses,
)

GRACE = GraceConfig(curve=((-1.0, 1500), (1.0, 1500), (3.0, 250), (7.0, 100)), bias=0.8)
"""Certain after 1.5 s at even odds, and 2 more make it a quarter of a second."""
EARLY = ProvisionalConfig(enabled=True, lead=3.0)
SHORT = Said(tone(1.5), "please tell the reason", 0.6)
SPEECH_ENDS_S = 0.6 + 1.5
PAUSE_S = 0.9
LONG = with_pauses(Said(tone(2.0), "please tell the reason spain went to war"), (0.7, PAUSE_S))


@dataclass
class Even:
    """An end-of-turn model that cannot decide."""

    def probability(self, audio: Block) -> float:
        return 0.5


def undecided(models: Models, _clock: Clock) -> Models:
    return replace(models, end_of_turn=Even())


def talk(
    *said: Said,
    answer: Callable[[str], str] = long_answer,
    early: ProvisionalConfig = EARLY,
    room: Callable[[Script, Playback, Clock], WavTransport] = WavTransport,
) -> Simulation:
    """The conversation, in which nothing happened that may never happen."""
    turns = TurnsConfig(grace=GRACE, provisional=early)
    simulation = Simulation(
        said, answer=answer, models=undecided, room=room, config=SessionConfig(turns)
    ).run()
    assert violations(simulation) == []
    return simulation


def at_s(simulation: Simulation, kind: type) -> list[float]:
    return [at for at, event in simulation.events if isinstance(event, kind)]


def noise_after(wait_s: float, *lengths_s: float) -> Said:
    """Sounds too short for speech, each `wait_s` after what was before it."""
    parts: list[Block] = []
    for length_s in lengths_s:
        parts += [np.zeros(int(wait_s * PIPELINE_HZ), dtype=np.float32), tone(length_s, 400.0)]
    return Said(np.concatenate(parts), "", None)


def test_where_the_end_is_undecided_the_answer_is_heard_before_it_is_certain() -> None:
    early, late = talk(SHORT), talk(SHORT, early=ProvisionalConfig(enabled=False))
    (begun,), (certain,) = at_s(early, ProvisionalStart), at_s(early, ResponseStarted)
    assert begun == pytest.approx(SPEECH_ENDS_S + 0.25, abs=0.1)
    assert certain == pytest.approx(SPEECH_ENDS_S + 1.5, abs=0.05)
    assert audible_s(early)[0] < SPEECH_ENDS_S + 0.4
    assert audible_s(late)[0] > SPEECH_ENDS_S + 1.45
    assert at_s(late, ProvisionalStart) == []
    for simulation in (early, late):
        assert statuses(simulation) == ["completed"]
        assert heard(simulation) == [SHORT.text]
    assert prompts(early) == prompts(late)


def test_its_timeline_tells_when_it_was_heard_and_when_it_was_certain() -> None:
    (timeline,) = talk(SHORT).session.metrics.finished()
    since = timeline.since_speech_ms()
    assert since["provisional"] <= since["first_played"] < 400 < 1400 < since["committed"]


def test_who_goes_on_hears_it_fall_silent_and_nothing_of_it_is_left() -> None:
    simulation = talk(LONG)
    back_s = 0.6 + 0.7 * 2.0 + PAUSE_S
    (taken_back,) = [event for _, event in simulation.events if isinstance(event, TakenBack)]
    assert taken_back.heard == "Sentence"
    sounds = [at for at in audible_s(simulation) if at < back_s + 1.5]
    assert sounds
    assert back_s < sounds[-1] < back_s + 0.032 + 0.032 + 0.06  # a window's border, and a window
    assert statuses(simulation) == ["completed"]
    assert heard(simulation) == [LONG.text]
    assert prompts(simulation) == [("user", LONG.text), ("assistant", long_answer(""))]
    turns = [event.turn for _, event in simulation.events if isinstance(event, SpeechStarted)]
    assert [(turn.turn_id, turn.turn_revision) for turn in turns] == [
        (turns[0].turn_id, 0),
        (turns[0].turn_id, 1),
    ]
    assert len(simulation.session.metrics.starts_taken_back()) == 1


def test_who_was_interrupted_once_is_next_given_the_whole_grace() -> None:
    simulation = talk(LONG)
    assert len(at_s(simulation, ProvisionalStart)) == 1
    ended_s = 0.6 + 2.0 + PAUSE_S
    assert at_s(simulation, ResponseStarted) == [pytest.approx(ended_s + 1.5, abs=0.1)]


def test_a_cough_holds_it_for_a_moment_and_it_goes_on_at_the_very_sample() -> None:
    quiet = talk(SHORT)
    coughed = talk(SHORT, noise_after(0.6, 0.03))
    actions = [e.action for _, e in coughed.events if isinstance(e, Interruption)]
    assert actions == ["silence", "restore"]
    assert at_s(coughed, TakenBack) == []
    assert statuses(coughed) == ["completed"]
    played = [sound[sound != 0.0] for sound in (s.transport.assistant() for s in (quiet, coughed))]
    assert np.array_equal(played[0], played[1])


def test_a_second_cough_makes_it_wait_until_it_is_certain() -> None:
    coughed = talk(SHORT, noise_after(0.4, 0.03, 0.03))
    actions = [e.action for _, e in coughed.events if isinstance(e, Interruption)]
    assert actions == ["silence", "restore", "silence", "restore"]
    second_s = SPEECH_ENDS_S + 2 * 0.4 + 0.03
    silent = [at for at in audible_s(coughed) if second_s + 0.13 < at < SPEECH_ENDS_S + 1.5]
    assert silent == []
    assert statuses(coughed) == ["completed"]


def test_a_short_answer_may_be_over_before_it_is_certain() -> None:
    simulation = talk(SHORT, answer=lambda _: "Yes.")
    assert audible_s(simulation)[-1] < SPEECH_ENDS_S + 0.9
    assert at_s(simulation, ResponseDone) == [pytest.approx(SPEECH_ENDS_S + 1.5, abs=0.05)]
    assert prompts(simulation) == [("user", SHORT.text), ("assistant", "Yes.")]
    assert simulation.transport.playback.underruns == 0


def test_a_short_answer_that_is_over_is_taken_back_too() -> None:
    simulation = talk(LONG, answer=lambda _: "Yes.")
    assert len(at_s(simulation, TakenBack)) == 1
    assert prompts(simulation) == [("user", LONG.text), ("assistant", "Yes.")]
    assert [event.played for event in done(simulation)] == ["Yes."]


def test_once_it_is_certain_speech_is_an_interruption() -> None:
    simulation = talk(SHORT, said_after(2.0, "no wait what about mars", 1.2))
    assert statuses(simulation)[0] == "cancelled"
    assert at_s(simulation, TakenBack) == []
    assert len(heard(simulation)) == 2


class _OverAWire(WavTransport):
    @property
    def can_take_back(self) -> bool:
        return False


def test_never_where_the_client_plays_it() -> None:
    simulation = talk(SHORT, room=_OverAWire)
    assert at_s(simulation, ProvisionalStart) == []
    assert audible_s(simulation)[0] > SPEECH_ENDS_S + 1.45


def test_never_where_nothing_is_heard_while_it_plays() -> None:
    def half_duplex(script: Script, playback: Playback, clock: Clock) -> Room:
        return Room(script, playback, clock, half_duplex=True)

    assert at_s(talk(SHORT, room=half_duplex), ProvisionalStart) == []


class _KeyPressed(WavTransport):
    """Somebody presses the key that stops the assistant, at `KEY_S`."""

    KEY_S = SPEECH_ENDS_S + 1.2
    simulation: Simulation

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        def listen(window: AudioIn) -> None:
            start = window.end_sample - BLOCK_SAMPLES
            if start <= self.KEY_S * PIPELINE_HZ < window.end_sample:
                self.simulation.session.interrupt()
            heard(window)

        super().run(listen, tick)


def test_who_stops_it_with_the_key_has_heard_it() -> None:
    simulation = Simulation(
        [SHORT],
        answer=long_answer,
        models=undecided,
        room=_KeyPressed,
        config=SessionConfig(TurnsConfig(grace=GRACE, provisional=EARLY)),
    )
    _KeyPressed.simulation = simulation
    simulation.run()
    (ended,) = done(simulation)
    assert ended.status == "cancelled"
    assert ended.played
    assert prompts(simulation)[-1] == ("assistant", ended.played.strip())
    assert audible_s(simulation)[-1] < _KeyPressed.KEY_S + 0.1


def test_a_microphone_that_falls_silent_in_the_middle_lets_it_go_on() -> None:
    cough_s = SPEECH_ENDS_S + 0.6

    def muted(script: Script, playback: Playback, clock: Clock) -> Room:
        return Room(script, playback, clock, muted=lambda at: cough_s + 0.04 < at < cough_s + 6.0)

    simulation = talk(SHORT, noise_after(0.6, 0.03), room=muted)
    assert statuses(simulation) == ["completed"]
    assert audible_s(simulation)[-1] > cough_s + 2.0
