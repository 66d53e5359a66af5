"""What this machine can do with a model: measured once, kept, and said in one line."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Protocol

from s2s import __version__
from s2s.system.cpu import cores, cpu_name
from s2s.tts.qwen3.engine.chunk_schedule import FRAME_MS, Costs, ScheduleConfig
from s2s.tts.qwen3.engine.report import Report

log = logging.getLogger(__name__)

FILE = "qwen3-speed.json"

_PROBE_FRAMES = 8
_USUAL_CHUNK = 8
_GAIN = 0.97
"""More threads or draft tokens must bring at least this much: below it they only cost power."""
_DRAFT_TOKENS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Speed:
    """How a model is run on this machine, and what a frame then takes.

    ``threads`` of the language model, ``draft_tokens`` verified in each predictor pass; the rest as
    in ``Costs``.
    """

    threads: int
    draft_tokens: int
    codes_ms: float
    call_ms: float
    decode_ms: float
    together: bool = False

    @property
    def costs(self) -> Costs:
        """For the schedule."""
        return Costs(self.codes_ms, self.call_ms, self.decode_ms, self.together)

    @property
    def real_time(self) -> float:
        """Work over sound in the usual chunks: below 1 it keeps up."""
        return self.costs.frame_ms(_USUAL_CHUNK) / FRAME_MS


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
    model: Tunable, speak: Speak, threads: int, draft_tokens: int | None, *, together: bool = False
) -> Speed:
    """Find the fastest settings by speaking a few frames with each, and leave the model with them.

    threads: the most. draft_tokens: None tries; a number stays. together: codes are made while
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
    mixed = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=_USUAL_CHUNK)
    found = [speak(1 + _USUAL_CHUNK, mixed).costs(together) for _ in range(3)]
    return Speed(
        best_threads,
        best_draft_tokens,
        *(
            round(median(values), 3)
            for values in zip(*((c.codes_ms, c.call_ms, c.decode_ms) for c in found), strict=True)
        ),
        together=together,
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


class SpeedBook:
    """Measurements of this machine in a file. Those of another machine, or of another version of
    this package, do not count; a file that cannot be read or written is as good as none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._machine = [__version__, cpu_name(), cores()]

    def speed(self, key: str) -> Speed | None:
        """How a model was run here before."""
        return self.speeds().get(key)

    def speeds(self) -> dict[str, Speed]:
        """Every model that was run here."""
        found: dict[str, Speed] = {}
        for key, value in self._section("models").items():
            try:
                found[key] = Speed(**value)  # type: ignore[arg-type]
            except TypeError:
                continue  # of another version
        return found

    def keep_speed(self, key: str, speed: Speed) -> None:
        """Remember it."""
        self._keep("models", key, asdict(speed))

    def backends(self, key: str) -> dict[str, float]:
        """Milliseconds a frame by backend, as measured here before; empty when never."""
        found = self._section("backends").get(key)
        return dict(found) if isinstance(found, dict) else {}

    def keep_backends(self, key: str, frame_ms: Mapping[str, float]) -> None:
        """Remember them."""
        self._keep("backends", key, dict(frame_ms))

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict) or found.get("machine") != self._machine:
            return {}
        return found

    def _section(self, name: str) -> dict[str, object]:
        found = self._read().get(name)
        return found if isinstance(found, dict) else {}

    def _keep(self, section: str, key: str, value: object) -> None:
        content = {**self._read(), "machine": self._machine}
        content[section] = {**self._section(section), key: value}
        partial = self._path.with_suffix(f".{os.getpid()}.partial")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(content, indent=1), encoding="utf-8")
            os.replace(partial, self._path)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)


def fastest_backend(
    candidates: Iterable[str], key: str, book: SpeedBook, frame_ms: Callable[[str], float]
) -> str:
    """The fastest of the candidates, at least one. Each is measured once a machine.

    ``frame_ms`` measures one; a RuntimeError of it rules the candidate out.
    """
    candidates = list(candidates)
    if len(candidates) == 1:
        return candidates[0]
    known = book.backends(key)
    if not set(candidates) <= set(known):
        for name in candidates:
            try:
                known[name] = round(frame_ms(name), 2)
            except RuntimeError as error:
                log.warning("qwen3: %s does not work here: %s", name, error)
                known[name] = float("inf")
        book.keep_backends(key, known)
    return min(candidates, key=lambda name: known[name])
