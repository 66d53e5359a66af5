"""Who is listened to: what the room's level is learned from."""

from __future__ import annotations

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import Event
from s2s.core.messages import PartialTranscript, TurnId
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.turns.speaker.attention import Attention
from s2s.turns.speaker.config import SpeakerConfig
from tests.support.floor import NotedFloor

ROOM_DB, TURNED_DOWN_DB = -60.0, -90.0
HARDLY_LOUDER_DB = ROOM_DB + 2.0


def noise(level_db: float, windows: int) -> list[Block]:
    random = np.random.default_rng(0)
    samples = 10 ** (level_db / 20) * random.standard_normal(windows * BLOCK_SAMPLES)
    return list(samples.astype(np.float32).reshape(windows, BLOCK_SAMPLES))


def attention() -> Attention:
    events: list[Event] = []
    clock = ManualClock()
    state = SessionState(
        CancelScope(clock), SpeculativeTurns(clock), clock, Metrics(), events.append
    )
    return Attention(None, SpeakerConfig(), state, NotedFloor(playing=True))


def why_not(heard: Attention) -> str | None:
    turn = np.concatenate(noise(HARDLY_LOUDER_DB, PIPELINE_HZ // BLOCK_SAMPLES))
    words = PartialTranscript("What is that?", "", TurnId("t", 0), len(turn))
    return heard.why_not(turn, words)


def test_a_long_answer_beside_an_open_loudspeaker_leaves_the_rooms_level_as_it_was() -> None:
    heard = attention()
    for block in noise(ROOM_DB, 150):
        heard.hear(block, 0.0, held_back=False)
    for block in noise(TURNED_DOWN_DB, 300):
        heard.hear(block, 0.0, held_back=False, of_room=False)
    assert why_not(heard) == "hardly louder than the noise"


def test_a_room_that_got_quieter_is_learned() -> None:
    heard = attention()
    for block in noise(ROOM_DB, 150) + noise(TURNED_DOWN_DB, 300):
        heard.hear(block, 0.0, held_back=False)
    assert why_not(heard) is None
