"""A stage of the pipeline, and the one loop that runs it in a thread.

A handler knows the messages it takes and gives, never its neighbours. The loop is where any
exception of a stage ends: it becomes that handler's `failed` messages, so that the response ends
as failed and the next turn works.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import Any, Generic, Protocol, TypeVar

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import Clock, Worker
from s2s.core.messages import SessionEnd

log = logging.getLogger(__name__)

In = TypeVar("In")
Out = TypeVar("Out")
Given = TypeVar("Given", contravariant=True)


class Handler(ABC, Generic[In, Out]):
    """One stage. All methods are called from the stage's own thread."""

    name: str = "stage"

    @abstractmethod
    def process(self, message: In) -> Iterable[Out]:
        """Answer one message. Outputs leave one by one, as they are yielded."""

    def failed(self, message: In | None, error: Exception) -> Iterable[Out]:
        """What goes on after `process` raised `error`; `message` is None for a failed deadline."""
        return ()

    def deadline_s(self) -> float | None:
        """When `expired` is to be called if no message came before; None for never."""
        return None

    def expired(self) -> Iterable[Out]:
        """The deadline passed."""
        return ()

    def end_session(self) -> None:
        """Forget everything of the session; keep the models."""

    def close(self) -> None:
        """The thread ends: let go of what this handler alone owns."""


class Outbox(Protocol[Given]):
    """Where a stage's outputs go: a channel, or something that deals with them in its thread."""

    def put(self, item: Given, /) -> None:
        """Take one, waiting until there is room for it."""
        ...

    def close(self) -> None:
        """No more come."""
        ...


class Stage(Generic[In, Out]):
    """A handler in its thread, between an inbox and an outbox.

    The thread ends when the inbox is closed and empty; it then closes its outbox, so that the end
    travels through the pipeline behind the last message.
    """

    def __init__(
        self,
        handler: Handler[In, Out],
        inbox: Channel[In],
        outbox: Outbox[Out] | None,
        clock: Clock,
    ) -> None:
        self.handler = handler
        self.inbox = inbox
        self.sent = 0
        """Outputs so far: it moves."""
        self._outbox = outbox
        self._clock = clock
        self._working = False
        self._worker: Worker | None = None

    @property
    def name(self) -> str:
        return self.handler.name

    @property
    def idle(self) -> bool:
        """Nothing waits and nothing is being worked on."""
        return not self._working and not len(self.inbox)

    def start(self) -> None:
        self._worker = self._clock.start(self._run, f"s2s-{self.name}")

    def work(self, message: In | None) -> None:
        """Deal with one message, or with the deadline that has passed (None), in this thread: for
        who has a thread of its own for the stage, and does not `start` it.

        Raises:
            Closed: the outbox is. Nothing more is to be worked on; `end` follows.
        """
        self._working = True
        try:
            self._guard(message)
        finally:
            self._working = False

    def end(self) -> None:
        """No more comes from who called `work`."""
        self.handler.close()
        if self._outbox is not None:
            self._outbox.close()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread's end; False when it still runs."""
        if self._worker is None:
            return True
        self._worker.join(timeout_s)
        return not self._worker.is_alive()

    def _run(self) -> None:
        try:
            while True:
                try:
                    message = self.inbox.get(
                        deadline_s=self.handler.deadline_s(), taken=self._begin
                    )
                except Timeout:
                    self._guard(None)
                else:
                    self._guard(message)
                    self._working = False
        except Closed:
            log.debug("%s: channel closed", self.name)
        finally:
            self._working = False
            self.end()

    def _begin(self) -> None:
        self._working = True

    def _guard(self, message: In | None) -> None:
        try:
            self._send(self._outputs(message))
        except Closed:
            raise
        except Exception as error:  # the stage loop: the failure is sent on
            log.error("%s failed: %s", self.name, error)
            log.debug("%s failed", self.name, exc_info=error)
            self._tell_failure(message, error)

    def _tell_failure(self, message: In | None, error: Exception) -> None:
        """Send on what the handler makes of its failure. If that fails too, the stage lives on: the
        session's watchdog ends the response that is owed."""
        try:
            self._send(self.handler.failed(message, error))
        except Closed:
            raise
        except Exception as second:  # likewise: one answer, not the session
            log.error("%s could not tell that it failed: %s", self.name, second)
            log.debug("%s could not tell that it failed", self.name, exc_info=second)

    def _outputs(self, message: In | None) -> Iterable[Out]:
        if message is None:
            return self.handler.expired()
        if isinstance(message, SessionEnd):
            self.handler.end_session()
        return self.handler.process(message)

    def _send(self, outputs: Iterable[Out]) -> None:
        iterator = iter(outputs)
        try:
            for output in iterator:
                self.sent += 1
                if self._outbox is not None:
                    self._outbox.put(output)
        finally:
            if isinstance(iterator, Generator):
                iterator.close()


AnyStage = Stage[Any, Any]
"""A stage, whatever its messages."""
