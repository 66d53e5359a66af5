"""Time, threads and waiting: the only place that asks for the time or blocks.

Everything that waits does so on a `Condition` made by a `Clock`. On `SystemClock` these are the
standard library's threads. On `ManualClock` the same code runs in simulated time: one thread
runs at once, and when all of them wait the clock jumps to the nearest deadline. A conversation of
minutes then takes milliseconds, and its order of events is the same every time.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self


class Condition(Protocol):
    """A condition variable. Enter it before `wait` or `notify_all`."""

    def __enter__(self) -> object: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> bool | None: ...

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a notification, at most `timeout` seconds; False when time ran out."""
        ...

    def notify_all(self) -> None:
        """Wake every waiter."""
        ...


class Worker(Protocol):
    """A started thread."""

    @property
    def name(self) -> str: ...

    def join(self, timeout: float | None = None) -> None: ...

    def is_alive(self) -> bool: ...


class Clock(Protocol):
    """Seconds that only go forward, and the ways to wait for them."""

    def now(self) -> float:
        """Seconds since an arbitrary start."""
        ...

    def condition(self) -> Condition:
        """A new condition variable on this clock."""
        ...

    def start(self, target: Callable[[], None], name: str) -> Worker:
        """Run `target` in a thread of this clock."""
        ...

    def wait_until(self, deadline_s: float) -> None:
        """Block until `now()` has reached `deadline_s`."""
        ...


class SystemClock:
    """Wall time and real threads."""

    def now(self) -> float:
        return time.perf_counter()

    def condition(self) -> Condition:
        return threading.Condition()

    def start(self, target: Callable[[], None], name: str) -> Worker:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def wait_until(self, deadline_s: float) -> None:
        pause_s = deadline_s - self.now()
        if pause_s > 0:
            time.sleep(pause_s)


class Deadlock(RuntimeError):
    """Every thread of a `ManualClock` waits and none has a deadline."""


class _Task:
    """One thread of a `ManualClock`: it runs only while it holds its baton."""

    __slots__ = ("baton", "doomed", "name", "signalled", "waiting_on")

    def __init__(self, name: str) -> None:
        self.name = name
        self.baton = threading.Lock()
        self.baton.acquire()
        self.waiting_on: ManualCondition | None = None
        self.signalled = False
        self.doomed = False


class ManualClock:
    """Simulated time. Threads take turns; time moves only when all of them wait.

    Threads started with `start`, and the thread that made the clock, run one at a time: a thread
    goes on until it waits, so code between two waits needs no lock. Equal deadlines fire in the
    order in which they were set. Why not mocks: docs/decisions/simulated-time.md.
    """

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s
        self._ready: deque[_Task] = deque()
        self._deadlines: list[tuple[float, int, _Task, int]] = []
        self._sequence = itertools.count()
        self._waits: dict[_Task, int] = {}
        self._main = _Task("main")
        self.current = self._main
        self.switches = 0

    def now(self) -> float:
        return self._now_s

    def condition(self) -> ManualCondition:
        return ManualCondition(self)

    def start(self, target: Callable[[], None], name: str) -> ManualWorker:
        worker = ManualWorker(self, target, name)
        self._ready.append(worker.task)
        return worker

    def wait_until(self, deadline_s: float) -> None:
        condition = self.condition()
        while self._now_s < deadline_s:
            condition.wait(deadline_s - self._now_s)

    def park(self, condition: ManualCondition | None, timeout: float | None) -> bool:
        """Give the turn away until notified or timed out; True when notified."""
        task = self.current
        task.waiting_on = condition
        task.signalled = False
        ticket = next(self._sequence)
        self._waits[task] = ticket
        if timeout is not None:
            deadline_s = self._now_s + max(timeout, 0.0)
            heapq.heappush(self._deadlines, (deadline_s, ticket, task, ticket))
        self.pass_on()
        task.baton.acquire()
        if task.doomed:
            task.doomed = False
            raise Deadlock(self._who_waits())
        return task.signalled

    def pass_on(self) -> None:
        """Let the next thread run: the first that is ready, else the next that is due."""
        self.switches += 1
        if not self._ready and not self._fire_deadline():
            self._main.doomed = True
            self._ready.append(self._main)
        self.current = self._ready.popleft()
        self.current.baton.release()

    def _fire_deadline(self) -> bool:
        while self._deadlines:
            deadline_s, _, task, ticket = heapq.heappop(self._deadlines)
            if self._waits.get(task) != ticket:
                continue  # that wait is over: it was notified before its deadline
            self._now_s = max(self._now_s, deadline_s)
            if task.waiting_on is not None:
                task.waiting_on.forget(task)
            self.wake(task, signalled=False)
            return True
        return False

    def wake(self, task: _Task, *, signalled: bool) -> None:
        self._waits.pop(task, None)
        task.waiting_on = None
        task.signalled = signalled
        self._ready.append(task)

    def _who_waits(self) -> str:
        names = sorted(task.name for task in self._waits)
        return f"every thread waits and none has a deadline; waiting: {', '.join(names) or 'none'}"


class ManualCondition:
    """Condition on a `ManualClock`. Entering it costs nothing: only one thread runs at once."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._waiters: list[_Task] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        return None

    def wait(self, timeout: float | None = None) -> bool:
        self._waiters.append(self._clock.current)
        return self._clock.park(self, timeout)

    def notify_all(self) -> None:
        waiters, self._waiters = self._waiters, []
        for task in waiters:
            self._clock.wake(task, signalled=True)

    def forget(self, task: _Task) -> None:
        """Drop a waiter whose time ran out."""
        self._waiters.remove(task)


class ManualWorker:
    """A thread that runs in turns on a `ManualClock`."""

    def __init__(self, clock: ManualClock, target: Callable[[], None], name: str) -> None:
        self._clock = clock
        self._target = target
        self._done = clock.condition()
        self._alive = True
        self.task = _Task(name)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        return self.task.name

    def is_alive(self) -> bool:
        return self._alive

    def join(self, timeout: float | None = None) -> None:
        deadline_s = None if timeout is None else self._clock.now() + timeout
        while self._alive:
            remaining_s = None if deadline_s is None else deadline_s - self._clock.now()
            if remaining_s is not None and remaining_s <= 0:
                return
            self._done.wait(remaining_s)
        self._thread.join()

    def _run(self) -> None:
        self.task.baton.acquire()
        try:
            self._target()
        finally:
            self._alive = False
            self._done.notify_all()
            self._clock.pass_on()
