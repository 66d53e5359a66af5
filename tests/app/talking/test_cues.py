"""Sounds that tell when it listens: heard, and counted as nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from s2s.app.talking.cues import HEARS, LEVEL, TONE_S, ListeningCues, two_tones
from s2s.core.audio import Block
from s2s.core.clock import Clock
from s2s.core.events import Listening, MicrophoneState, Notice
from s2s.session.config import SessionConfig
from s2s.session.session import Session
from s2s.testing.simulator import SYNTH_HZ, Simulation
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, WavTransport
from s2s.turns.config import TurnsConfig
from tests.scenarios.conversations import QUESTION, heard, long_answer, statuses
from tests.scenarios.test_orders import TALK, Press, PressedKeys, down, up


def rising(sound: Block) -> bool:
    """The second half is higher: it crosses zero more often."""
    half = len(sound) // 2
    crossings = [
        int(np.count_nonzero(np.diff(np.sign(part)))) for part in (sound[:half], sound[half:])
    ]
    return crossings[1] > crossings[0]


@pytest.mark.parametrize("rate_hz", [16_000, 24_000, 48_000])
def test_the_tones_are_short_soft_and_do_not_click(rate_hz: int) -> None:
    sound = two_tones(rate_hz, 500.0, 900.0)
    assert len(sound) == 2 * int(TONE_S * rate_hz)
    assert sound.dtype == np.float32
    assert LEVEL / 2 < np.abs(sound).max() <= LEVEL
    assert np.abs(np.diff(sound)).max() < LEVEL / 2
    assert abs(sound[0]) + abs(sound[-1]) < 1e-3
    assert rising(sound)


def test_it_sounds_when_listening_begins_and_ends_and_not_in_between() -> None:
    played: list[Block] = []
    cues = ListeningCues(played.append, 24_000)
    states: list[Listening] = [
        "asleep", "asleep", "awake", "awake", "asleep", "muted", "open", "talking", "waiting",
    ]  # fmt: skip
    sounds: list[str] = []
    for state in states:
        cues.on_event(MicrophoneState(state))
        cues.on_event(Notice("x"))
        sounds.append("".join("up" if rising(sound) else "down" for sound in played))
        played.clear()
    assert sounds == ["", "", "up", "", "down", "", "up", "", "down"]
    assert {"open", "awake", "talking"} == HEARS


def conversation(*, cues: bool) -> Simulation:
    """A question with the talk key; with a cue when the key goes down, and one over the answer."""
    simulation = Simulation(
        [QUESTION], config=SessionConfig(turns=TurnsConfig(input=TALK)), answer=long_answer
    )

    def room(script: Script, playback: Playback, clock: Clock) -> WavTransport:
        sounds = ListeningCues(playback.cue, playback.rate_hz)

        def press(session: Session, key: Press) -> None:
            key[1](session)
            if cues:
                sounds.on_event(MicrophoneState("talking" if key[1] is down else "waiting"))

        def timed() -> list[Press]:
            transport.session = simulation.session
            keys: list[Press] = [(0.3, down), (2.2, up)]
            made: list[Press] = [(key[0], partial(press, key=key)) for key in keys]
            if cues:
                made.append((3.5, lambda _: playback.cue(two_tones(playback.rate_hz, 500, 900))))
            return made

        transport = PressedKeys(script, playback, clock, timed)
        return transport

    simulation.room = room
    return simulation.run()


def test_a_cue_is_heard_and_the_conversation_is_as_it_was() -> None:
    plain, with_cues = conversation(cues=False), conversation(cues=True)
    assert statuses(with_cues) == ["completed"]
    assert heard(with_cues) == heard(plain)
    told = [[(at_s, type(e)) for at_s, e in each.events] for each in (plain, with_cues)]
    assert told[0] == told[1], "not one event is another, or at another time"
    [before], [after] = plain.session.metrics.finished(), with_cues.session.metrics.finished()
    assert before.marks == after.marks, "a cue is not the first sound of an answer"
    length = len(two_tones(SYNTH_HZ, 500, 900))
    sounds = [simulation.transport.assistant() for simulation in (plain, with_cues)]
    differ = np.flatnonzero(sounds[0] != sounds[1]) / SYNTH_HZ
    begins = [float(differ[0]), *differ[1:][np.diff(differ) > 0.2].tolist()]
    assert begins == pytest.approx([0.3, 2.2, 3.5], abs=0.05)
    assert len(differ) <= 3 * length
