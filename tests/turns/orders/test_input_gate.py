"""What of the microphone counts: mute, the talk key, the wake word."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.events import Event, MicrophoneState
from s2s.core.messages import AudioIn, TalkKey, WakeWord
from s2s.turns.orders.input_gate import Admitted, InputConfig, InputGate

WINDOW_S = BLOCK_SAMPLES / PIPELINE_HZ
VOICE = np.full(BLOCK_SAMPLES, 0.2, dtype=np.float32)
LATE = 1600


class Awaited:
    """A wake word that is recognised in the windows it is told, `LATE` samples after its end."""

    phrase = "Okay Nabu"

    def __init__(self, *windows: int) -> None:
        self.windows = windows
        self.count = 0
        self.loudest: list[float] = []

    def open(self) -> Awaited:
        return self

    def heard(self, block: Block) -> int | None:
        self.count += 1
        self.loudest.append(float(np.abs(block).max()))
        return LATE if self.count in self.windows else None


class Rig:
    """A gate, and a voice that never stops."""

    def __init__(self, config: InputConfig | None = None, wake: Awaited | None = None) -> None:
        self.events: list[Event] = []
        self.gate = InputGate(config or InputConfig(), wake, self.events.append)
        self.quiet = True
        self.sample = 0

    @property
    def now_s(self) -> float:
        return self.sample / PIPELINE_HZ

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.events if isinstance(event, MicrophoneState)]

    def hear(self, windows: int = 1) -> list[Admitted]:
        admitted: list[Admitted] = []
        for _ in range(windows):
            self.sample += BLOCK_SAMPLES
            window = AudioIn(VOICE, self.sample, self.now_s)
            admitted += self.gate.admit(window, lambda: self.quiet)
        return admitted


def sounds(admitted: list[Admitted]) -> list[bool]:
    return [bool(each.block.any()) for each in admitted if isinstance(each, AudioIn)]


def test_by_default_everything_passes_as_it_is() -> None:
    rig = Rig()
    (window,) = rig.hear()
    assert isinstance(window, AudioIn)
    assert window.block is VOICE
    assert window.attended


def test_muted_nothing_is_heard_and_the_samples_go_on() -> None:
    rig = Rig()
    rig.hear(2)
    rig.gate.mute(True, rig.now_s)
    muted = rig.hear(3)
    assert sounds(muted) == [False] * 3
    assert [each.end_sample for each in muted if isinstance(each, AudioIn)] == [
        n * BLOCK_SAMPLES for n in (3, 4, 5)
    ]
    rig.gate.mute(False, rig.now_s)
    assert sounds(rig.hear(2)) == [True] * 2
    assert rig.states == ["muted", "open"]


def test_what_was_captured_while_muted_is_not_heard_after_it() -> None:
    rig = Rig(InputConfig(muted=True))
    rig.gate.mute(False, rig.now_s + 2.5 * WINDOW_S)
    assert sounds(rig.hear(4)) == [False, False, True, True]


def test_only_what_is_said_while_the_talk_key_is_down_counts() -> None:
    rig = Rig(InputConfig(push_to_talk=True))
    assert sounds(rig.hear(2)) == [False, False]
    rig.gate.talk(True, rig.now_s)
    down = rig.hear(3)
    assert down[0] == TalkKey(True)
    assert sounds(down) == [True] * 3
    rig.gate.talk(False, rig.now_s)
    up = rig.hear(2)
    assert up[0] == TalkKey(False)
    assert sounds(up) == [False, False]
    assert rig.states == ["talking", "waiting"]


def test_a_word_that_the_microphone_has_not_delivered_when_the_key_goes_up_is_heard() -> None:
    rig = Rig(InputConfig(push_to_talk=True))
    rig.gate.talk(True, 0.0)
    rig.gate.talk(False, 2.5 * WINDOW_S)
    admitted = rig.hear(5)
    assert sounds(admitted) == [True, True, True, False, False]
    assert [each for each in admitted if isinstance(each, TalkKey)] == [
        TalkKey(True),
        TalkKey(False),
    ]
    assert admitted.index(TalkKey(False)) == 4


def test_without_push_to_talk_the_talk_key_does_nothing() -> None:
    rig = Rig()
    rig.gate.talk(True, 0.0)
    assert not rig.gate.talking
    assert not [each for each in rig.hear(3) if isinstance(each, TalkKey)]
    assert rig.events == []


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=20))
def test_keys_alternate_and_nothing_counts_while_it_is_up(presses: list[tuple[int, bool]]) -> None:
    rig = Rig(InputConfig(push_to_talk=True))
    admitted: list[Admitted] = []
    for windows, down in presses:
        admitted += rig.hear(windows)
        rig.gate.talk(down, rig.now_s)
    admitted += rig.hear(2)
    down = False
    for each in admitted:
        if isinstance(each, TalkKey):
            assert each.down is not down
            down = each.down
        elif isinstance(each, AudioIn):
            assert bool(each.block.any()) is down


def test_asleep_nothing_is_attended_to_until_the_wake_word() -> None:
    rig = Rig(wake=Awaited(3))
    admitted = rig.hear(4)
    attended = [each.attended for each in admitted if isinstance(each, AudioIn)]
    assert attended == [False, False, False, True]
    assert admitted[3] == WakeWord(3 * BLOCK_SAMPLES - LATE)
    assert sounds(admitted) == [True] * 4  # kept as what comes before
    assert rig.states == ["awake"]


def test_it_stays_awake_while_the_conversation_goes_on_and_falls_asleep_after_it() -> None:
    rig = Rig(InputConfig(follow_up_s=10 * WINDOW_S), Awaited(1))
    rig.hear(1)
    rig.quiet = False
    rig.hear(30)
    rig.quiet = True
    rig.hear(9)
    assert rig.states == ["awake"]
    (last,) = rig.hear(1)
    assert rig.states == ["awake", "asleep"]
    assert isinstance(last, AudioIn)
    assert not last.attended


def test_the_wake_word_said_awake_is_told_as_well_and_keeps_it_awake() -> None:
    rig = Rig(InputConfig(follow_up_s=10 * WINDOW_S), Awaited(1, 9))
    admitted = rig.hear(18)
    assert len([each for each in admitted if isinstance(each, WakeWord)]) == 2
    assert rig.states == ["awake"]
    rig.hear(1)
    assert rig.states == ["awake", "asleep"]


def test_muted_the_wake_word_is_not_heard() -> None:
    wake = Awaited()
    rig = Rig(InputConfig(muted=True), wake)
    rig.hear(3)
    assert wake.loudest == [0.0] * 3


def test_with_push_to_talk_no_wake_word_is_listened_for() -> None:
    wake = Awaited(1)
    rig = Rig(InputConfig(push_to_talk=True), wake)
    rig.gate.talk(True, 0.0)
    admitted = rig.hear(2)
    assert wake.count == 0
    assert all(each.attended for each in admitted if isinstance(each, AudioIn))
