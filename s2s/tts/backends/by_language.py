"""One model a language: the first is loaded at once, the others one after another behind it.

A change of language then finds its voice there; upstream's MMS backend loads it in the middle of
the answer, for seconds. Knows nothing about models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from s2s.core.clock import Clock, SystemClock
from s2s.core.errors import StageError
from s2s.tts.base import TtsError

T = TypeVar("T")


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
        clock = clock or SystemClock()
        self._changed = clock.condition()
        self._worker = clock.start(self._run, "tts languages") if self._wanted else None

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
        if code not in self._codes:
            raise TtsError(f"no voice for {code!r}; there are {', '.join(self._codes)}.")
        with self._changed:
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

    def is_here(self, code: str) -> bool:
        """The model is loaded, or was found not to load."""
        with self._changed:
            return code in self._made

    def close(self) -> None:
        """Forget all. What is being loaded is waited for. Idempotent."""
        with self._changed:
            self._closed = True
            self._wanted.clear()
            self._changed.notify_all()
        if self._worker is not None:
            self._worker.join()
        with self._changed:
            self._made.clear()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._wanted:
                    return
                code = self._wanted[0]
            made = self._attempt(code)
            with self._changed:
                if code in self._wanted:
                    self._wanted.remove(code)
                self._made[code] = made
                self._changed.notify_all()

    def _attempt(self, code: str) -> T | StageError:
        try:
            return self._load(code)
        except StageError as error:
            return error
