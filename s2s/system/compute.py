"""Who computes: what the person waits for goes first, and other programs keep the cores they use.

Two facts make this worth a place of its own. A library whose threads meet at a barrier (llama.cpp
has several hundred a token) stands still for a whole time slice whenever one of its threads loses
its core; with a thread less it does not. And of two models that compute at once on two cores, the
one that the person waits for must not be slowed down by one that merely works ahead.

See docs/decisions/busy-machine.md for what was measured.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

from s2s.core.work import Work
from s2s.system.cpu import cores

WINDOW_S = 1.0
"""Other programs' use of the processor is looked at over this time."""
SAMPLE_S = 0.1
"""Counters of the system are read this often at the most; their own step is 10 ms."""
NOTICED = 0.12
"""Less of a core than this in use by others does not count: a window that is redrawn."""
CROWDED_THREADS = 2
"""Threads where others have work for every core: each is one more share of the processor, and a
core with less of it than the others' programs loses more than its barrier costs. Measured beside
four busy programs on two cores; see docs/decisions/busy-machine.md."""
LONGEST_WAIT_S = 2.0
"""Work ahead waits for more urgent work this long at the most, then goes on beside it."""
SOUND_WAIT_S = 0.2
"""The same for sound of which enough is there: less than it may be short of (`SoundAhead`)."""


Counters = Callable[[], tuple[float, float]]
"""Gives seconds of processor time so far: of all programs, and of this one."""


def counters(*, steal: bool = False) -> tuple[float, float]:
    """What the system has counted since it started. steal: what a virtual machine did not get of
    its cores counts as used by others."""
    import psutil

    times = psutil.cpu_times()
    busy = sum(times) - times.idle - getattr(times, "iowait", 0.0)
    if not steal:
        busy -= getattr(times, "steal", 0.0)
    busy -= getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return busy, time.process_time()


class OtherLoad:
    """How many cores other programs have used lately. Any thread."""

    def __init__(
        self, read: Counters = counters, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._read = read
        self._now = now
        self._lock = threading.Lock()
        self._samples: deque[tuple[float, float]] = deque()
        self.observe()

    def observe(self) -> None:
        """Note where the counters stand; cheap, and meant to be called often."""
        with self._lock:
            self._observe(self._now())

    def cores(self) -> float:
        """Cores that others used over the last second, or since it was last asked."""
        with self._lock:
            now_s = self._now()
            self._observe(now_s)
            (first_s, first), (last_s, last) = self._samples[0], self._samples[-1]
            return max(0.0, (last - first) / (last_s - first_s)) if last_s > first_s else 0.0

    def _observe(self, now_s: float) -> None:
        if self._samples and now_s - self._samples[-1][0] < SAMPLE_S:
            return
        busy, own = self._read()
        self._samples.append((now_s, busy - own))
        while len(self._samples) > 2 and self._samples[1][0] <= now_s - WINDOW_S:
            self._samples.popleft()


class SharedCompute:
    """Decides how many threads a piece of work gets, and what waits for what. One a process."""

    def __init__(
        self,
        *,
        count: int | None = None,
        load: OtherLoad | None = None,
    ) -> None:
        """``count``: cores there are; None: as the system says."""
        self._cores = count or cores()
        self._load = load or OtherLoad()
        self._changed = threading.Condition()
        self._running: dict[Work, int] = dict.fromkeys(Work, 0)

    def observe(self) -> None:
        """Note what other programs do; called a few times a second while anybody listens."""
        self._load.observe()

    def threads(self, work: Work, most: int) -> int:
        """How many threads `work` gets now, 1 to ``most``: the cores that neither other programs
        nor more urgent work of this one use; where others use all of them, two. Text leaves a core
        to a chunk of sound that is already being made: two threads of a language model that meet at
        barriers stand still where one of them has none."""
        free = self._free()
        if free <= 0:
            return max(1, min(most, CROWDED_THREADS))
        with self._changed:
            taken = self._more_urgent(work)
            if work is Work.TEXT_AHEAD:
                taken += self._running[Work.SOUND_LATER]
        return max(1, min(most, free - taken))

    @contextmanager
    def working(self, work: Work, threads: int = 1) -> Generator[None, None, None]:
        """`work` computes meanwhile, in so many threads."""
        with self._changed:
            self._running[work] += threads
        try:
            yield
        finally:
            with self._changed:
                self._running[work] -= threads
                self._changed.notify_all()

    def wait(self, work: Work, stop: Callable[[], bool] = lambda: False) -> None:
        """Let more urgent work go first where no core is left beside it; returns at once
        otherwise, when `stop` says so after a change, and in any case after `LONGEST_WAIT_S` (or
        `SOUND_WAIT_S`)."""
        free = self._free()

        def may_go() -> bool:
            urgent = self._more_urgent(work)
            return urgent == 0 or urgent < free or stop()

        with self._changed:
            longest_s = SOUND_WAIT_S if work is Work.SOUND_LATER else LONGEST_WAIT_S
            self._changed.wait_for(may_go, longest_s)

    def computing(self) -> int:
        """Threads of this program that compute now, as far as they are noted."""
        with self._changed:
            return sum(self._running.values())

    def _free(self) -> int:
        """Cores that other programs leave."""
        return self._cores - math.ceil(max(0.0, self._load.cores() - NOTICED))

    def _more_urgent(self, work: Work) -> int:
        """Threads that more urgent work computes in; the lock is held."""
        return sum(count for each, count in self._running.items() if each < work)


@cache
def shared() -> SharedCompute:
    """The one of this process."""
    return SharedCompute()
