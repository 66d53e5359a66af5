"""Whose speech the turns are given: states, what is held back, what is withdrawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, Block
from s2s.turns.speaker.config import GateConfig
from s2s.turns.speaker.gate import WINDOW_MS, OthersSpeech, PassedWindow, VoiceGate

MINE, OTHER, UNSURE = 0.9, 0.0, 0.25


class Scripted:
    """A voice that is told by the level of the sound: its mean is the likeness."""

    def __init__(self) -> None:
        self.looks: list[int] = []

    def likeness(self, audio: Block) -> float:
        self.looks.append(len(audio))
        return float(audio[-BLOCK_SAMPLES:].mean()) if len(audio) else 0.0


def block(likeness: float) -> Block:
    return np.full(BLOCK_SAMPLES, likeness, dtype=np.float32)


class Rig:
    def __init__(self, config: GateConfig | None = None) -> None:
        self.config = config or GateConfig()
        self.voice = Scripted()
        self.gate = VoiceGate(self.voice, self.config)
        self.told: list[PassedWindow | OthersSpeech] = []

    def hear(
        self, likeness: float, ms: int, *, held_back: bool = True
    ) -> list[PassedWindow | OthersSpeech]:
        told: list[PassedWindow | OthersSpeech] = []
        for _ in range(ms // WINDOW_MS):
            told += self.gate.hear(block(likeness), 0.9, held_back=held_back)
        self.told += told
        return told

    def silence(self, ms: int) -> list[PassedWindow | OthersSpeech]:
        told: list[PassedWindow | OthersSpeech] = []
        for _ in range(ms // WINDOW_MS):
            told += self.gate.hear(block(0.0), 0.0)
        self.told += told
        return told


def spoken(told: list[PassedWindow | OthersSpeech]) -> int:
    """Windows of speech in ms."""
    return WINDOW_MS * sum(
        isinstance(each, PassedWindow) and each.probability > 0.5 for each in told
    )


def test_the_persons_speech_passes_window_by_window() -> None:
    rig = Rig()
    for _ in range(60):
        (told,) = rig.hear(MINE, WINDOW_MS)
        assert isinstance(told, PassedWindow)
        assert told.probability == 0.9
    assert rig.gate.whose == "mine"


def test_the_voice_is_looked_at_within_the_first_second() -> None:
    rig = Rig()
    rig.hear(MINE, 960)
    assert rig.voice.looks
    assert rig.gate.whose == "mine"


def test_anothers_speech_is_withdrawn_from_its_first_window() -> None:
    rig = Rig()
    rig.silence(320)
    told = rig.hear(OTHER, 1600)
    (withdrawn,) = [each for each in told if isinstance(each, OthersSpeech)]
    assert withdrawn.sample == 320 // WINDOW_MS * BLOCK_SAMPLES
    assert rig.gate.whose == "other"
    assert spoken(told) <= rig.config.first_look_ms


def test_what_is_held_back_comes_when_the_person_speaks() -> None:
    rig = Rig()
    rig.hear(OTHER, 3200)
    told = rig.hear(MINE, 960)
    assert rig.gate.whose == "mine"
    assert spoken(told) >= 960, "their first words are not lost"


def test_every_window_is_passed_on_once_at_last() -> None:
    rig = Rig()
    rig.hear(OTHER, 2400)
    rig.hear(MINE, 960)
    rig.hear(OTHER, 2400)
    rig.silence(960)
    assert (
        sum(isinstance(each, PassedWindow) for each in rig.told) == (2400 + 960 + 2400 + 960) // 32
    )


def test_who_speaks_on_where_the_person_ended_is_withdrawn_from_there() -> None:
    rig = Rig()
    rig.hear(MINE, 1600)
    told = rig.hear(OTHER, 1600)
    (withdrawn,) = [each for each in told if isinstance(each, OthersSpeech)]
    since_ms = withdrawn.sample // BLOCK_SAMPLES * WINDOW_MS
    assert 1600 - rig.config.again_mine_ms <= since_ms <= 1600 + rig.config.again_mine_ms


def test_after_silence_anybody_may_speak() -> None:
    rig = Rig()
    rig.hear(OTHER, 1600)
    rig.silence(rig.config.forget_ms)
    assert rig.gate.whose == "unknown"


def test_short_speech_is_settled_at_its_end() -> None:
    rig = Rig()
    rig.hear(MINE, 320)
    assert rig.gate.whose == "unknown"
    assert rig.gate.settle() == "mine"
    other = Rig()
    other.hear(OTHER, 320)
    assert other.gate.settle() == "other"


def test_who_stays_unsure_is_another_after_a_while() -> None:
    rig = Rig()
    rig.hear(UNSURE, 1024)
    assert rig.gate.whose == "unknown"
    rig.hear(UNSURE, rig.config.sure_ms - 1024)
    assert rig.gate.whose == "other"


def test_one_unlike_moment_does_not_take_the_turn_from_the_person() -> None:
    rig = Rig()
    rig.hear(MINE, rig.config.first_look_ms)
    rig.hear(OTHER, rig.config.again_mine_ms)
    assert rig.gate.whose == "mine"
    rig.hear(OTHER, rig.config.again_mine_ms)
    assert rig.gate.whose == "other"


def test_the_person_is_looked_at_briefly_and_others_at_length() -> None:
    rig = Rig()
    rig.hear(UNSURE, 2000)
    assert rig.voice.looks[-1] >= 2 * 16 * rig.config.brief_look_ms
    rig.hear(MINE, 2 * rig.config.again_mine_ms)
    assert rig.voice.looks[-1] == 16 * rig.config.brief_look_ms


def test_over_a_reply_everything_passes_and_only_the_verdict_tells() -> None:
    rig = Rig()
    told = rig.hear(OTHER, 1600, held_back=False)
    assert spoken(told) == 1600
    assert not [each for each in told if isinstance(each, OthersSpeech)]
    assert rig.gate.whose == "other"
    after = rig.hear(OTHER, 64)
    assert isinstance(after[0], OthersSpeech), "the reply is over: it is withdrawn now"
    assert after[0].sample == 0


@given(st.lists(st.tuples(st.sampled_from([MINE, OTHER, UNSURE, None]), st.integers(1, 60))))
def test_no_window_is_lost_or_doubled(parts: list[tuple[float | None, int]]) -> None:
    rig = Rig()
    for likeness, windows in parts:
        if likeness is None:
            rig.silence(windows * WINDOW_MS)
        else:
            rig.hear(likeness, windows * WINDOW_MS)
    rig.silence(2 * rig.config.forget_ms)
    assert (
        sum(isinstance(each, PassedWindow) for each in rig.told)
        == sum(windows for _, windows in parts) + 2 * rig.config.forget_ms // WINDOW_MS
    )


def test_a_config_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="mine"):
        GateConfig(mine=0.2, other=0.5)
    with pytest.raises(ValueError, match="first_look_ms < sure_ms"):
        GateConfig(first_look_ms=900, sure_ms=900)
