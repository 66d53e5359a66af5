"""What of the microphone counts: mute, the talk key, and sleep until the wake word is said.

It stands between the microphone and the turns stage. What does not count goes on as silence, so
that the clock of samples and whatever is being decided go on. Knows no model, device or thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.core.events import EventSink, MicrophoneState
from s2s.core.messages import AudioIn, TalkKey, WakeWord
from s2s.core.setting import setting
from s2s.turns.base import WakeModel, WakeStream

_WINDOW_S = BLOCK_SAMPLES / PIPELINE_HZ


@dataclass(frozen=True, slots=True)
class InputConfig:
    """Which sound counts as said to the assistant."""

    push_to_talk: bool = setting(False, "Only what is said while the talk key is down counts.")
    muted: bool = setting(False, "Nothing is heard until it is unmuted.")
    follow_up_s: float = setting(
        8.0,
        "With a wake word: one talks on without it until nothing was said for this many seconds.",
    )

    def __post_init__(self) -> None:
        if self.follow_up_s <= 0:
            raise ValueError(f"follow_up_s must be positive, got {self.follow_up_s}")


Admitted = AudioIn | TalkKey | WakeWord


class InputGate:
    """One session's microphone. `mute` and `talk` from any thread, `admit` from one."""

    def __init__(self, config: InputConfig, wake: WakeModel | None, events: EventSink) -> None:
        """
        Args:
            wake: listens for the wake word; None where none is needed. The talk key does without.
        """
        self._config = config
        self._wake = None if config.push_to_talk or wake is None else wake.open()
        self._events = events
        self._lock = threading.Lock()
        self._muted = config.muted
        self._counts_from_s = 0.0
        """What was captured until then is not heard: it was muted."""
        self._keys: deque[tuple[float, bool]] = deque()
        """When the talk key went down or up, and the microphone has not come to it."""
        self._wants_to_talk = False
        """The talk key is down."""
        self._talking = False
        """Likewise, as far as the microphone has come."""
        self._awake_until: int | None = None
        """Sample of the session at which it falls asleep; None while it sleeps."""

    # --- from any thread -----------------------------------------------------------------------

    @property
    def muted(self) -> bool:
        return self._muted

    @property
    def shut(self) -> bool:
        """Not everything that is said counts."""
        return self._muted or self._config.push_to_talk or self._wake is not None

    @property
    def talking(self) -> bool:
        """The talk key is down."""
        return self._wants_to_talk

    def mute(self, on: bool, at_s: float) -> None:
        """Hear nothing from now on, or again what is captured after `at_s`."""
        with self._lock:
            if self._muted is on:
                return
            self._muted = on
            self._counts_from_s = at_s
        self.tell()

    def talk(self, down: bool, at_s: float) -> None:
        """The talk key went down or up at `at_s`: what was said until then counts to the end."""
        with self._lock:
            if not self._config.push_to_talk or self._wants_to_talk is down:
                return
            self._wants_to_talk = down
            self._keys.append((at_s, down))
        self.tell()

    def tell(self) -> None:
        """Tell in which state the microphone is."""
        if self._muted:
            self._events(MicrophoneState("muted"))
        elif self._config.push_to_talk:
            self._events(MicrophoneState("talking" if self._wants_to_talk else "waiting"))
        elif self._wake is not None:
            self._events(MicrophoneState("asleep" if self._awake_until is None else "awake"))
        else:
            self._events(MicrophoneState("open"))

    # --- the microphone ------------------------------------------------------------------------

    def admit(self, window: AudioIn, quiet: Callable[[], bool]) -> list[Admitted]:
        """What the turns stage is to hear of `window`.

        Args:
            quiet: whether the person is silent, nothing is being answered and nothing plays.
        """
        admitted: list[Admitted] = list(self._keys_before(window))
        closed = self._config.push_to_talk and not self._talking
        if self._muted or closed or window.captured_at_s <= self._counts_from_s:
            window = replace(window, block=np.zeros_like(window.block))
        if self._wake is None:
            return [*admitted, window]
        return [*admitted, *self._after_wake_word(self._wake, window, quiet)]

    def _keys_before(self, window: AudioIn) -> list[TalkKey]:
        """A key that goes up lets the window through in which it does."""
        passed: list[TalkKey] = []
        with self._lock:
            while self._keys:
                at_s, down = self._keys[0]
                if at_s > window.captured_at_s - (0.0 if down else _WINDOW_S):
                    break
                self._keys.popleft()
                self._talking = down
                passed.append(TalkKey(down))
        return passed

    def _after_wake_word(
        self, wake: WakeStream, window: AudioIn, quiet: Callable[[], bool]
    ) -> list[Admitted]:
        ended = wake.heard(window.block)
        awake = self._awake_until is not None
        if awake and not quiet():
            self._stay_awake(window.end_sample)
        if ended is not None:
            self._stay_awake(window.end_sample)
            if not awake:
                self.tell()
            word = WakeWord(window.end_sample - ended)
            return [replace(window, attended=awake), word]
        if self._awake_until is not None and window.end_sample >= self._awake_until:
            self._awake_until = None
            self.tell()
        return [replace(window, attended=self._awake_until is not None)]

    def _stay_awake(self, sample: int) -> None:
        self._awake_until = sample + int(self._config.follow_up_s * PIPELINE_HZ)
