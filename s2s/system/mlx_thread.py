"""The one thread in which this process computes with MLX (docs/decisions/mlx-thread.md)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from queue import SimpleQueue
from typing import TypeVar

from s2s.core.clock import SystemClock

T = TypeVar("T")

MLX_THREAD = "s2s-mlx"
"""Its name: the only thread of ours that outlives every session."""


class MlxThread:
    """Runs what computes with MLX, one call after another, and never ends."""

    def __init__(self) -> None:
        self._wanted: SimpleQueue[Callable[[], None]] = SimpleQueue()
        SystemClock().start(self._run, MLX_THREAD)

    def call(self, work: Callable[[], T]) -> T:
        """What `work` gives. Raises what it raises. Any thread but this one."""
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except BaseException as error:  # noqa: BLE001  (raised by who waits for it)
                answer.set_exception(error)

        self._wanted.put(run)
        return answer.result()

    def _run(self) -> None:
        while True:
            self._wanted.get()()


@cache
def mlx_thread() -> MlxThread:
    """The one of this process, begun with the first call."""
    return MlxThread()
