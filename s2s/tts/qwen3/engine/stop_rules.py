"""What stops speech that would not stop by itself: pure policy over the first codes.

Now and then the model never says that it has ended: 0.15 to 0.7 % of requests, as reported for
the published checkpoints (sglang-omni #1179, QwenLM #118). It then stays in near-silence, or
repeats itself. Random numbers do not get it out again, so speech is ended here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from dataclasses import dataclass
from enum import Enum

from s2s.tts.speech_time import frame_cap

_GRAM = 4


class StopReason(Enum):
    """Why speech ended."""

    END = "the model ended"
    STOPPED = "it was stopped"
    LIMIT = "more frames than the text can need"
    SILENCE = "silence after the text"
    REPETITION = "the same code, or the same codes, over and over"
    LOST = "the language model on a server was lost"


@dataclass(frozen=True, slots=True)
class Guards:
    """When to end, in frames of 80 ms. A count of 0 switches its guard off.

    The most frames for a text follow from its tokens, see ``speech_time.frame_cap``; the defaults
    are the same there. ``silent_codes`` are the first codes
    that stand for silence: after the text, ``silent_frames`` of them in a row end it.
    """

    frames_per_token: int = 8
    spare_frames: int = 25
    least_frames: int = 50
    silent_codes: Set[int] = frozenset()
    silent_frames: int = 12
    same_frames: int = 20
    repeats: int = 6

    def limit(self, text_tokens: int) -> int | None:
        """The most frames for a text; None when there is no limit."""
        if not self.frames_per_token:
            return None
        return frame_cap(
            text_tokens,
            frames_per_token=self.frames_per_token,
            spare_frames=self.spare_frames,
            least_frames=self.least_frames,
        )


UNGUARDED = Guards(frames_per_token=0, silent_frames=0, same_frames=0, repeats=0)
"""Only the model ends."""


class Watch:
    """Applies the guards to one utterance."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self._codes: deque[int] = deque(maxlen=_GRAM * max(guards.repeats, 1))
        self._frames = 0
        self._same = 0
        self._silent = 0

    def after(self, code0: int, text_left: bool, limit: int | None) -> StopReason | None:
        """Told each frame's first code in turn; why to end after it, or None to go on.

        ``text_left``: it was made before all of the text was fed. ``limit``: frames after which
        it must end, as far as is known by now.
        """
        guards = self._guards
        self._same = self._same + 1 if self._codes and self._codes[-1] == code0 else 1
        self._silent = self._silent + 1 if code0 in guards.silent_codes and not text_left else 0
        self._codes.append(code0)
        self._frames += 1
        half = 0 if limit is None else limit // 2
        if guards.silent_frames and self._silent >= guards.silent_frames and self._frames >= half:
            return StopReason.SILENCE
        silent = code0 in guards.silent_codes
        if guards.same_frames and self._same >= guards.same_frames and not silent:
            return StopReason.REPETITION
        if guards.repeats and self._loops():
            return StopReason.REPETITION
        if limit is not None and self._frames >= limit:
            return StopReason.LIMIT
        return None

    def trailing_frames(self, reason: StopReason) -> int:
        """Frames at the end that say nothing: those that made a guard end it."""
        match reason:
            case StopReason.SILENCE:
                return self._silent
            case StopReason.REPETITION:
                return self._same if self._same > 1 else len(self._codes) - _GRAM
            case _:
                return 0

    def _loops(self) -> bool:
        """The last codes are one group of four, repeated; one code alone has its own guard."""
        codes = list(self._codes)
        if len(codes) < _GRAM * self._guards.repeats or len(set(codes)) == 1:
            return False
        return all(codes[at] == codes[at - _GRAM] for at in range(_GRAM, len(codes)))
