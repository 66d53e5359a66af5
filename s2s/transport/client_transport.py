"""A client on the other end of a wire: it has the microphone and the loudspeaker.

Sound comes in by `hear` from any thread or event loop and goes out by a callback. Knows no wire.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer
from s2s.core.clock import Clock
from s2s.core.control import Answering, Hearing, SessionControl
from s2s.core.events import EventSink
from s2s.core.messages import AudioIn
from s2s.transport.client_playback import ClientPlayback, ClientSound
from s2s.transport.output import SoundTap

BACKLOG_S = 30.0
"""Sound that may wait to be heard: a client may send a recording faster than it lasts."""
SOFT = 0.01
"""Peak below which nothing is said that would not be heard as well a moment later: -40 dB."""
SOFT_WINDOWS = 12
"""So much of a soft room is heard at once, where nothing else goes on: 384 ms. Waking a thread for
each message is a fifth of what a silent session takes: docs/decisions/silent-sessions.md."""
LOOK_S = 0.25
"""How often it is looked after an answer on its way while the client sends nothing."""


@dataclass(frozen=True, slots=True)
class _Order:
    """Something to be done between two windows."""

    do: Callable[[], None]


class ClientTransport:
    """What a session hears of a client, and says to it.

    Args:
        clock: the session's.
        rate_hz: of the answers' sound, as the wire wants it.
        on_sound: takes it; called on the session's threads, must not wait nor call back.
        on_room: called when there is room for more of what the client says, after `hear` refused.
    """

    def __init__(
        self,
        clock: Clock,
        rate_hz: int,
        on_sound: Callable[[ClientSound], None],
        *,
        on_room: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._changed = clock.condition()
        self._playback = ClientPlayback(clock, rate_hz, on_sound, self.wake)
        self._tap: SoundTap | None = None
        self.on_closed: Callable[[], None] = lambda: None
        """Called once the session is over, and nothing of it goes on."""
        self.on_room = on_room
        self._framer = Framer(BLOCK_SAMPLES)
        self._waiting: deque[AudioIn | _Order] = deque()
        self._refused = False
        self._samples = 0
        self._windows_end = 0
        self._idle = False
        """The client is waited for, and nothing else."""
        self._woken = False
        self._stopped = False

    @property
    def playback(self) -> ClientPlayback:
        return self._playback

    def record(self, tap: SoundTap) -> None:
        """Have `tap` take what is heard of both voices. Before `run`."""
        self._tap = self._playback.tap = tap

    @property
    def heard_samples(self) -> int:
        """Samples at 16 kHz that the client has sent so far."""
        return self._samples

    def hear(self, audio: Block) -> bool:
        """The client sent float32 [samples] at 16 kHz, any number. Never waits.

        False when too much waits to be heard already: nothing was taken.
        """
        now_s = self._clock.now()
        with self._changed:
            if len(self._waiting) * BLOCK_SAMPLES > BACKLOG_S * PIPELINE_HZ:
                self._refused = True
                return False
            self._samples += len(audio)
            before = len(self._waiting)
            for window in self._framer.push(audio):
                self._windows_end += BLOCK_SAMPLES
                behind_s = (self._samples - self._windows_end) / PIPELINE_HZ
                self._waiting.append(AudioIn(window.copy(), self._windows_end, now_s - behind_s))
            if len(self._waiting) > before and not (self._idle and self._may_wait(audio)):
                self._changed.notify_all()
            return True

    def after_heard(self, do: Callable[[], None], *, whole: bool = False) -> None:
        """Call `do` on the session's thread when all that was sent so far has been heard.

        Args:
            do: must not wait.
            whole: what does not fill a window is heard too, with silence behind it.
        """
        with self._changed:
            for window in self._framer.flush() if whole else ():
                self._windows_end += BLOCK_SAMPLES
                self._samples = self._windows_end
                self._waiting.append(AudioIn(window, self._windows_end, self._clock.now()))
            self._waiting.append(_Order(do))
            self._changed.notify_all()

    def sent(self, samples: int) -> None:
        """So many samples of answers have left for the client."""
        self._playback.sent(samples)

    def _may_wait(self, audio: Block) -> bool:
        """Nobody speaks, as far as loudness tells, and little waits."""
        return len(self._waiting) < SOFT_WINDOWS and float(np.abs(audio).max()) < SOFT

    @property
    def waiting(self) -> bool:
        """Something that the client sent has not been heard yet."""
        return bool(self._waiting)

    def run(self, heard: Callable[[AudioIn], None], look: Callable[[], float | None]) -> None:
        """Call `heard` with each window, until `stop`. In the caller's thread.

        Args:
            heard: may wait.
            look: called behind what was heard, after `wake`, and when the clock reads what it
                returned last; None: not before something comes.
        """
        due_s: float | None = self._clock.now() + LOOK_S
        while (waiting := self._next(due_s)) is not None:
            for each in waiting:
                if isinstance(each, _Order):
                    each.do()
                else:
                    heard(each if self._tap is None else self._tap.heard(each))
            due_s = look()

    def wake(self) -> None:
        """Have it looked; from any thread."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()

    def _next(self, due_s: float | None) -> list[AudioIn | _Order] | None:
        """What is to be heard next; nothing when it is to be looked before; None at the end."""
        with self._changed:
            if not (self._waiting or self._woken or self._stopped):
                self._idle = due_s is None
                wait_s = None if due_s is None else max(0.0, due_s - self._clock.now())
                self._changed.wait(wait_s)
                self._idle = False
            if self._stopped:
                return None
            self._woken = False
            count = min(SOFT_WINDOWS, len(self._waiting))
            taken = [self._waiting.popleft() for _ in range(count)]
            room, self._refused = self._refused, False
        if room:
            self.on_room()
        return taken


class OpenSession(Protocol):
    """Begins a session with a client; the app gives it to the wire."""

    def __call__(
        self,
        transport: ClientTransport,
        events: EventSink,
        *,
        session_id: str,
        answering: Answering,
        hearing: Hearing,
        kept: object | None = None,
    ) -> SessionControl:
        """
        Args:
            events: takes what the client is told, on any thread; must not wait.
            session_id: part of every id; used once.
            kept: `SessionControl.kept` of a session that was closed.
        """
        ...
