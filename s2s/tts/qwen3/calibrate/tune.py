"""Finds what is fastest on this machine by trying: threads, draft tokens, backends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from statistics import median
from typing import Protocol

from s2s.tts.qwen3.calibrate.cache import USUAL_CHUNK, CalibrationCache, Speed
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.report import Report

log = logging.getLogger(__name__)

_PROBE_FRAMES = 8
_GAIN = 0.97
"""More threads or draft tokens must bring at least this much: below it they only cost power."""
_DRAFT_TOKENS = (1, 2, 3)


class Tunable(Protocol):
    """A model that can be run with other settings from the next utterance on."""

    def use_threads(self, threads: int) -> bool:
        """False when the backend's threads are fixed."""
        ...

    def use_draft_tokens(self, draft_tokens: int) -> None:
        """How many draft tokens are verified in each predictor pass."""
        ...


Speak = Callable[[int, ScheduleConfig], Report]
"""Speaks that many frames, unheard, in those chunks."""


def tune(
    model: Tunable,
    speak: Speak,
    threads: int,
    draft_tokens: int | None,
    *,
    overlapped: bool = False,
) -> Speed:
    """Find the fastest settings by speaking a few frames with each, and leave the model with them.

    threads: the most. draft_tokens: None tries; a number stays. overlapped: codes are made while
    others are decoded.
    """
    whole = ScheduleConfig(
        initial_codec_chunk_frames=_PROBE_FRAMES, codec_chunk_frames=_PROBE_FRAMES
    )

    def codes_ms() -> float:
        return speak(_PROBE_FRAMES, whole).costs().codes_ms

    model.use_draft_tokens(draft_tokens or 0)
    codes_ms()  # the first run is slower than all others
    best_threads = _fastest(_counts(threads), codes_ms, model.use_threads)
    best_draft_tokens = draft_tokens or 0
    if draft_tokens is None:
        best_draft_tokens = _fastest((0, *_DRAFT_TOKENS), codes_ms, _always(model.use_draft_tokens))
    mixed = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=USUAL_CHUNK)
    found = [speak(1 + USUAL_CHUNK, mixed).costs(overlapped) for _ in range(3)]
    return Speed(
        best_threads,
        best_draft_tokens,
        *(
            round(median(values), 3)
            for values in zip(*((c.codes_ms, c.call_ms, c.decode_ms) for c in found), strict=True)
        ),
        overlapped=overlapped,
    )


def _counts(most: int) -> list[int]:
    """``most`` threads, and fewer."""
    return [most, *(count for count in (most // 2, 1) if 0 < count < most)]


def _always(use: Callable[[int], None]) -> Callable[[int], bool]:
    def used(value: int) -> bool:
        use(value)
        return True

    return used


def _fastest(
    values: Iterable[int], measure: Callable[[], float], use: Callable[[int], bool]
) -> int:
    """The first value, or a later one that is clearly faster; it is in use then."""
    first, *others = dict.fromkeys(values)
    use(first)
    best, best_ms = first, measure()
    for value in others:
        if not use(value):
            return best
        found_ms = measure()
        if found_ms < best_ms * _GAIN:
            best, best_ms = value, found_ms
    use(best)
    return best


def fastest_backend(
    candidates: Iterable[str], key: str, cache: CalibrationCache, frame_ms: Callable[[str], float]
) -> str:
    """The fastest of the candidates, at least one. Each is measured once a machine.

    ``frame_ms`` measures one; a RuntimeError of it rules the candidate out.
    """
    candidates = list(candidates)
    if len(candidates) == 1:
        return candidates[0]
    known = cache.backends(key)
    if not set(candidates) <= set(known):
        for name in candidates:
            try:
                known[name] = round(frame_ms(name), 2)
            except RuntimeError as error:
                log.warning("qwen3: %s does not work here: %s", name, error)
                known[name] = float("inf")
        cache.keep_backends(key, known)
    return min(candidates, key=lambda name: known[name])
