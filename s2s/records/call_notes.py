"""Notes of calls: what was asked of a model, when, how long it took, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from s2s.core.clock import Clock
from s2s.core.markup import Call
from s2s.records import keys

CallSink = Callable[[Mapping[str, object]], None]
"""Takes the note of a call that is over; from any thread, must not wait."""


class CallNotes:
    """Notes calls on a session's clock.

    Args:
        clock: the session's.
        begin_s: what it read at the beginning of the record.
        sink: takes the notes.
    """

    def __init__(self, clock: Clock, begin_s: float, sink: CallSink) -> None:
        self._clock = clock
        self._begin_s = begin_s
        self._sink = sink
        self._counted: set[str] = set()

    def now(self) -> float:
        return self._clock.now()

    def piece(self, piece: str | Call) -> None:
        """A piece of an answer has come: for those who count them while they come."""

    def chunk(self, seconds: float) -> None:
        """So much sound of a voice has come: likewise."""

    def note(self, call: str, key: str, began_s: float, **result: object) -> None:
        """A call that began at `began_s` is over."""
        took_s = self._clock.now() - began_s
        at_s = began_s - self._begin_s
        self._sink({"at_s": at_s, "call": call, "key": key, "took_s": took_s, **result})

    @contextmanager
    def failing(self, call: str, key: str, began_s: float) -> Generator[None]:
        """Note that a call has failed, if it does."""
        try:
            yield
        except Exception as error:
            self.note(call, key, began_s, error=str(error))
            raise

    def counted(self, text: str, tokens: int) -> None:
        """A text has so many tokens; noted once."""
        key = keys.of_text(text)
        if key not in self._counted:
            self._counted.add(key)
            self.note("tokens", key, self._clock.now(), value=tokens)
