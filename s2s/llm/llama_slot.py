"""What a model of llama.cpp has evaluated of a conversation, and which of several goes on with it.

A conversation that only grows costs its new words alone, as long as nothing else was evaluated in
its place. So each of several conversations has a place of its own, as far as memory goes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from s2s.core.work import Compute, Work
from s2s.llm.base import LlmError, Urgency
from s2s.llm.token_sampling import TokenSampling, log_share
from s2s.system.fair_lock import FairLock
from s2s.system.llama_context import LlamaContext
from s2s.system.llama_cpp import LlamaCppError

Take = Callable[[str], bool]
"""Takes a piece of the answer, or "" as a sign of life; true ends the generation."""


class LlamaSlot:
    """The cache of one conversation. One thread at a time; its steps take turns with those of the
    other slots.

    Args:
        context: its own.
        batch: prompt tokens of one step.
        threads: of the machine, at most.
        step: held for each step, by all slots of a model.
    """

    def __init__(
        self, context: LlamaContext, batch: int, threads: int, compute: Compute, step: FairLock
    ) -> None:
        self.context = context
        self.held: list[int] = []
        """The tokens in the cache."""
        self.judged: tuple[int, ...] = ()
        """The words, with all in front, whose ending was asked last."""
        self.ending = 0.0
        self.taken = False
        self.last_taken = 0
        self._batch = batch
        self._threads = threads
        self._compute = compute
        self._step = step

    def in_common(self, prompt: Sequence[int]) -> int:
        """Tokens at the beginning of `prompt` that are in the cache."""
        return next(
            (at for at, (a, b) in enumerate(zip(self.held, prompt, strict=False)) if a != b),
            min(len(self.held), len(prompt)),
        )

    def show(self, prompt: Sequence[int], take: Take, work: Urgency) -> bool:
        """Bring the cache to hold `prompt`, with the logits of its last token; what it holds
        already is not computed again. False when `take` wants no more."""
        same = min(self.in_common(prompt), len(prompt) - 1)
        self._keep(same, work)
        for start in range(same, len(prompt), self._batch):
            if take(""):
                return False
            self._feed(prompt[start : start + self._batch], work())
        return True

    def write(
        self,
        sampling: TokenSampling,
        random: np.random.Generator,
        ends: Callable[[int], bool],
        count: int,
        work: Urgency,
    ) -> Iterator[int]:
        """Tokens of the answer until the model ends it, at most `count`."""
        for _ in range(count):
            token = sampling.choose(self.context.logits(), self.held, random)
            if ends(token):
                return
            yield token
            if len(self.held) >= self.context.room:
                return
            self._feed([token], work())

    def log_probability(
        self, prompt: Sequence[int], text: Sequence[int], take: Take, work: Urgency
    ) -> float | None:
        """Natural logarithm of the probability of `text` behind `prompt`, of two tokens at least.
        None when `take` wants no more."""
        if not self.show(prompt[:-1], take, work):
            return None
        total, behind = 0.0, [prompt[-1], *text[:-1]]
        for start in range(0, len(behind), self._batch):
            fed = behind[start : start + self._batch]
            if take(""):
                return None
            self._feed(fed, work(), outputs=len(fed))
            for at, token in enumerate(text[start : start + self._batch]):
                total += log_share(self.context.logits(len(fed) - at), token)
        return total

    def _keep(self, count: int, work: Urgency) -> None:
        """Forget all but the first `count` tokens."""
        if count == len(self.held):
            return
        kept = self.held[:count]
        try:
            self.context.rewind(count)
        except LlamaCppError:  # a recurrent model's state cannot go back
            self.context.clear()
            self.held = []
            for start in range(0, count, self._batch):
                self._feed(kept[start : start + self._batch], work())
        self.held = kept

    def _feed(self, tokens: Sequence[int], work: Work, outputs: int = 1) -> None:
        self._compute.wait(work)
        threads = self._compute.threads(work, self._threads)
        with self._step:
            self.context.use_threads(threads)
            try:
                with self._compute.working(work, threads):
                    self.context.feed_tokens(tokens, outputs)
            except LlamaCppError as error:
                self.context.clear()
                self.held = []
                raise LlmError(f"the language model failed: {error}") from error
        self.held += tokens


class LlamaSlots:
    """The conversations of one model; more than there are places for lose the oldest of them.

    Args:
        opened: makes a slot.
        most: slots at most; each is made when a conversation needs it.
    """

    def __init__(self, opened: Callable[[], LlamaSlot], most: int) -> None:
        self._opened = opened
        self._most = most
        self._changed = threading.Condition()
        self._slots: list[LlamaSlot] | None = [opened()]
        self._clock = 0

    def __len__(self) -> int:
        return len(self._slots or ())

    @property
    def room(self) -> int:
        """Tokens that one holds."""
        return self._open()[0].context.room

    @contextmanager
    def taken(self, prompt: Sequence[int], *, wait: bool = True) -> Generator[LlamaSlot | None]:
        """The slot for a conversation that is `prompt`, meanwhile nobody else's; waits while all
        are taken, or gives None where that is not wanted."""
        with self._changed:
            while (slot := self._free(prompt)) is None and wait:
                self._changed.wait()
            if slot is not None:
                self._clock += 1
                slot.taken, slot.last_taken = True, self._clock
        try:
            yield slot
        finally:
            if slot is not None:
                with self._changed:
                    slot.taken = False
                    self._changed.notify_all()

    def close(self) -> list[LlamaContext]:
        """Take all of them out of use, once nobody uses one; returns what is to be closed."""
        with self._changed:
            while self._slots is not None and any(slot.taken for slot in self._slots):
                self._changed.wait()
            slots, self._slots = self._slots or [], None
            self._changed.notify_all()
            return [slot.context for slot in slots]

    def _free(self, prompt: Sequence[int]) -> LlamaSlot | None:
        """The slot that holds the conversation so far, else a new one, else the one that was not
        used for the longest time; None when all are taken."""
        slots = self._open()
        free = [slot for slot in slots if not slot.taken]
        best = max(free, key=lambda slot: slot.in_common(prompt), default=None)
        if best is not None and 2 * best.in_common(prompt) >= len(best.held):
            return best
        if len(slots) < self._most:
            slots.append(self._opened())
            return slots[-1]
        return min(free, key=lambda slot: slot.last_taken, default=None)

    def _open(self) -> list[LlamaSlot]:
        if self._slots is None:
            raise LlmError("the language model was used after it was closed.")
        return self._slots
