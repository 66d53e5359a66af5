"""Whose speech the turns are given: the person's, and nothing of what others say. A state machine.

It stands between the voice detector and the segmenter. Speech is passed on while it is not known
whose it is, so that the person's own turn is as quick as without a gate; its voice is compared with
the person's within the first second and from then on. What turns out to be another's is withdrawn;
from then on windows are held back for a second and then passed on as silence, until the person is
heard among them: then what is held comes at once, and their first words are not lost.

    unknown --like mine--> mine --unlike--> other --like mine--> mine
       |                     |                |
       +------unlike---------|--------> other |
       ^---------------------+--- silence ----+

Knows no model, no thread and no clock: it is given a measure of likeness. Not thread-safe.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.turns.base import OwnVoice
from s2s.turns.speaker.config import GateConfig

Whose = Literal["unknown", "mine", "other"]
"""Whose speech is heard: not known yet, the person's, or another's."""

WINDOW_MS = 1000 * BLOCK_SAMPLES // PIPELINE_HZ


@dataclass(frozen=True, slots=True)
class PassedWindow:
    """A window for the segmenter: as it was heard, or silence in place of another's speech."""

    block: Block
    probability: float


@dataclass(frozen=True, slots=True)
class OthersSpeech:
    """Speech since `sample`, which was passed on, is another's."""

    sample: int
    likeness: float


@dataclass(frozen=True, slots=True)
class _Heard:
    """A window of the last seconds."""

    start: int
    block: Block
    probability: float
    active: bool


class VoiceGate:
    """One session's. See the module."""

    def __init__(self, own: OwnVoice, config: GateConfig) -> None:
        self._own = own
        self._config = config
        self._sample = 0
        self.reset()

    def reset(self) -> None:
        """Forget what was heard, keep the clock."""
        self._whose: Whose = "unknown"
        self._recent: deque[_Heard] = deque()
        self._held: deque[_Heard] = deque()
        self._begin_stretch(self._sample)

    def _begin_stretch(self, sample: int) -> None:
        """A stretch is speech with pauses shorter than `forget_ms`."""
        self._stretch: int | None = None
        self._active_ms = 0
        self._silent_ms = 0
        self._next_look_ms = self._config.first_look_ms
        self._mine_until = sample
        self._owed: OthersSpeech | None = None
        """What is to be withdrawn once others need not be heard."""
        self._looks: deque[float] = deque(maxlen=self._config.looks)
        self.likeness: float | None = None
        """Of the last look; None before the first of a stretch."""

    @property
    def whose(self) -> Whose:
        """Whose the speech is that is heard now, or was heard last."""
        return self._whose

    @property
    def active_ms(self) -> int:
        """Speech of the stretch so far, pauses not counted."""
        return self._active_ms

    def hear(
        self, block: Block, probability: float, *, held_back: bool = True
    ) -> list[PassedWindow | OthersSpeech]:
        """What the segmenter is to be told on hearing the next window.

        Args:
            block: float32 [512].
            probability: that it is speech.
            held_back: False while others must be heard too, for the stop phrase: everything is
                passed on, and only `whose` tells.
        """
        active = probability >= self._config.speech_probability
        heard = _Heard(self._sample, block, probability, active)
        self._sample += len(block)
        self._remember(heard)
        self._count(heard)
        told: list[PassedWindow | OthersSpeech] = []
        if active and self._active_ms >= self._next_look_ms:
            told += self._look()
        if held_back and self._owed is not None:
            told.append(self._owed)
            self._owed = None
        told += self._pass(heard, held_back=held_back)
        if self._stretch is not None and self._silent_ms >= self._config.forget_ms:
            told += self._release(silent=True)
            self._whose = "unknown"
            self._begin_stretch(self._sample)
        return told

    def settle(self) -> Whose:
        """The speech seems to be over: decide whose it was, from all that was heard of it."""
        if self._whose == "unknown" and self._stretch is not None:
            self.likeness = self._likeness()
            self._whose = "mine" if self.likeness >= self._at_end() else "other"
            if self._whose == "mine":
                self._mine_until = self._sample
        return self._whose

    # --- looking -----------------------------------------------------------------------------

    def _look(self) -> list[PassedWindow | OthersSpeech]:
        config = self._config
        before = self._whose
        likeness = self._likeness()
        again_ms = config.again_ms
        if likeness >= config.mine or (before == "mine" and likeness >= config.still_mine):
            self._whose, self._mine_until = "mine", self._sample
            if likeness >= config.mine:
                again_ms = config.again_mine_ms
        elif likeness < self._unlike(before):
            self._whose = "other"
        self._next_look_ms = self._active_ms + again_ms
        if self._whose == before:
            return []
        self._looks.clear()
        if self._whose == "mine":
            self._looks.append(likeness)
        if self._whose == "other":
            since = self._stretch if before == "unknown" else self._mine_until
            self._owed = OthersSpeech(self._sample if since is None else since, likeness)
            return []
        self._owed = None
        return self._release(silent=False)

    def _likeness(self) -> float:
        """A look at what was said last. While the person speaks it is a brief one, taken together
        with the ones before: who speaks on is to be told soon, and not by one moment alone."""
        config = self._config
        if self._whose != "mine":
            self.likeness = self._own.likeness(self._sound(config.look_ms))
            return self.likeness
        self._looks.append(self._own.likeness(self._sound(config.brief_look_ms)))
        self.likeness = sum(self._looks) / len(self._looks)
        return self.likeness

    def _unlike(self, before: Whose) -> float:
        """Below this it is another's: less is asked for the longer it has been heard."""
        config = self._config
        if before == "mine":
            return config.still_mine
        since_ms = self._active_ms - config.first_look_ms
        share = min(1.0, max(0.0, since_ms / (config.sure_ms - config.first_look_ms)))
        return config.other + (config.mine - config.other) * share

    def _at_end(self) -> float:
        """What speech must be like at its end; short speech tells less, and is believed more."""
        config = self._config
        share = min(1.0, self._active_ms / config.first_look_ms)
        return config.short + (config.mine - config.short) * share

    def _sound(self, longest_ms: int) -> Block:
        """The last active speech of the stretch, float32 [samples], its pauses left out."""
        first = self._sample if self._stretch is None else self._stretch - BLOCK_SAMPLES
        heard = [each for each in self._recent if each.start >= first]
        wanted = longest_ms // WINDOW_MS
        kept: list[Block] = []
        for each in reversed(heard):
            if each.active:
                kept.append(each.block)
                if len(kept) >= wanted:
                    break
        return np.concatenate(kept[::-1]) if kept else np.zeros(0, dtype=np.float32)

    # --- passing on --------------------------------------------------------------------------

    def _pass(self, heard: _Heard, *, held_back: bool) -> list[PassedWindow | OthersSpeech]:
        if self._whose != "other" or not held_back:
            return [*self._release(silent=False), PassedWindow(heard.block, heard.probability)]
        self._held.append(heard)
        told: list[PassedWindow | OthersSpeech] = []
        while len(self._held) * WINDOW_MS > self._config.hold_ms:
            told.append(_silence(self._held.popleft()))
        return told

    def _release(self, *, silent: bool) -> list[PassedWindow | OthersSpeech]:
        """What was held back, as it was heard or as silence."""
        held = list(self._held)
        self._held.clear()
        return [
            _silence(each) if silent else PassedWindow(each.block, each.probability)
            for each in held
        ]

    def _remember(self, heard: _Heard) -> None:
        self._recent.append(heard)
        longest_ms = self._config.look_ms * 2
        while len(self._recent) * WINDOW_MS > longest_ms:
            self._recent.popleft()

    def _count(self, heard: _Heard) -> None:
        if heard.active:
            if self._stretch is None:
                self._stretch = heard.start
            self._active_ms += WINDOW_MS
            self._silent_ms = 0
        elif self._stretch is not None:
            self._silent_ms += WINDOW_MS


def _silence(heard: _Heard) -> PassedWindow:
    return PassedWindow(np.zeros_like(heard.block), 0.0)
