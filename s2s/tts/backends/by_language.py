"""One model a language: the first is loaded at once, the others one after another behind it.

A change of language then finds its voice there; upstream's MMS backend loads it in the middle of
the answer, for seconds. A language that was not named at the start is loaded behind the voice that
speaks, too, once it is asked for. Knows nothing about models.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from s2s.core.clock import Clock, SystemClock, Worker
from s2s.core.errors import StageError
from s2s.tts.base import TtsError

T = TypeVar("T")

log = logging.getLogger(__name__)


class ByLanguage(Generic[T]):
    """Models by language. Any thread.

    Args:
        codes: what may be asked for, the first loaded here, the others in a thread of its own.
        load: gives the model of a language; called once for each.
        clock: starts the thread.

    Raises:
        StageError: what `load` raises for the first; that of another one comes when it is asked
            for.
    """

    def __init__(
        self, codes: Sequence[str], load: Callable[[str], T], clock: Clock | None = None
    ) -> None:
        self._load = load
        self._made: dict[str, T | StageError] = {codes[0]: load(codes[0])}
        self._wanted = [code for code in dict.fromkeys(codes) if code != codes[0]]
        self._codes = (codes[0], *self._wanted)
        self._closed = False
        self._clock = clock or SystemClock()
        self._changed = self._clock.condition()
        self._worker: Worker | None = None
        self._working = False
        with self._changed:
            self._work()

    @property
    def codes(self) -> tuple[str, ...]:
        """The languages, the first one first."""
        return self._codes

    def get(self, code: str | None) -> T:
        """The model of a language, waiting for it while it is loaded; None is the first.

        Raises:
            StageError: no such language, it could not be loaded, or all was closed.
        """
        code = code or self._codes[0]
        with self._changed:
            if code not in self._codes and code not in self._made and code not in self._wanted:
                raise TtsError(f"no voice for {code!r}; there are {', '.join(self._codes)}.")
            if code in self._wanted:  # it goes first
                self._wanted.remove(code)
                self._wanted.insert(0, code)
            while code not in self._made and not self._closed:
                self._changed.wait()
            if self._closed:
                raise TtsError("the voice was used after it was closed.")
            made = self._made[code]
        if isinstance(made, StageError):
            raise made
        return made

    def prepare(self, code: str) -> bool:
        """Whether the model of a language is here. Where it is not, it is loaded behind the others,
        unless that failed before. Never waits."""
        with self._changed:
            made = self._made.get(code)
            if made is None and code not in self._wanted and not self._closed:
                self._wanted.append(code)
                self._work()
            return made is not None and not isinstance(made, StageError)

    def close(self) -> None:
        """Forget all. What is being loaded is waited for. Idempotent."""
        with self._changed:
            self._closed = True
            self._wanted.clear()
            self._changed.notify_all()
            worker = self._worker
        if worker is not None:
            worker.join()
        with self._changed:
            self._made.clear()

    def _work(self) -> None:
        """See to it that what is wanted is loaded. The lock is held."""
        if self._wanted and not self._working:
            self._working = True
            self._worker = self._clock.start(self._run, "tts languages")

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._wanted:
                    self._working = False
                    return
                code = self._wanted[0]
            made = self._attempt(code)
            with self._changed:
                if code in self._wanted:
                    self._wanted.remove(code)
                self._made[code] = made
                self._changed.notify_all()

    def _attempt(self, code: str) -> T | StageError:
        log.info("the voice of %s is being loaded", code)
        try:
            made = self._load(code)
        except StageError as error:
            log.warning("the voice of %s cannot be loaded: %s", code, error)
            return error
        log.info("the voice of %s is loaded", code)
        return made
