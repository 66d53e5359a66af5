"""What this machine can do with a model, as it was measured here, and as utterances corrected it.

Only what was measured under good `MeasuringConditions` is kept; they are kept with it.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from s2s import __version__
from s2s.core.untyped import is_object
from s2s.system.cpu import cores, cpu_name
from s2s.system.whole_file import write_whole
from s2s.tts.qwen3.calibrate.conditions import MeasuringConditions
from s2s.tts.qwen3.engine.chunk_schedule import FRAME_MS, Costs, ScheduleConfig, edge_schedule

log = logging.getLogger(__name__)

USUAL_CHUNK = 8
_MOST, _MOST_MS, _MOST_TEXT = 1024, 1e7, 40
"""Threads, draft tokens, milliseconds and letters, beyond which a file is damaged."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How a model is run on this machine, and what a frame then takes.

    ``threads`` of the language model, ``draft_tokens`` verified in each predictor pass; the rest as
    in ``Costs``. ``rtf``: seconds of work for a second of sound in a usual utterance, the prompt
    included; 0 when none was spoken.
    """

    threads: int
    draft_tokens: int
    codes_ms: float
    call_ms: float
    decode_ms: float
    overlapped: bool = False
    rtf: float = 0.0
    conditions: MeasuringConditions = field(default_factory=MeasuringConditions)

    @classmethod
    def of(cls, threads: int, draft_tokens: int, costs: Costs, rtf: float) -> Speed:
        """From costs."""
        return cls(
            threads,
            draft_tokens,
            costs.codes_ms,
            costs.call_ms,
            costs.decode_ms,
            costs.overlapped,
            round(rtf, 3),
        )

    @property
    def costs(self) -> Costs:
        """For the schedule."""
        return Costs(self.codes_ms, self.call_ms, self.decode_ms, self.overlapped)

    @property
    def schedule(self) -> ScheduleConfig:
        """The chunks with which the first sound comes soonest and nothing breaks off."""
        return edge_schedule(self.costs)

    @property
    def real_time(self) -> float:
        """Work over sound: below 1 it keeps up."""
        return self.rtf or self.costs.frame_ms(USUAL_CHUNK) / FRAME_MS

    def under(self, conditions: MeasuringConditions) -> Speed:
        """The same, with how and when it was measured."""
        return replace(self, conditions=conditions)


class CalibrationCache:
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
        kept = {key: _speed(value) for key, value in self._section("models").items()}
        return {key: speed for key, speed in kept.items() if speed is not None}

    def keep_speed(self, key: str, speed: Speed) -> None:
        """Remember it."""
        self._keep("models", key, asdict(speed))

    def backends(self, key: str) -> dict[str, float]:
        """Milliseconds a frame by backend, as measured here before; empty when never."""
        found = self._section("backends").get(key)
        if not is_object(found):
            return {}
        times = {name: ms for name, ms in found.items() if isinstance(ms, int | float)}
        return {name: float(ms) for name, ms in times.items() if _is_time(ms) or ms == math.inf}

    def keep_backends(self, key: str, frame_ms: Mapping[str, float]) -> None:
        """Remember them."""
        self._keep("backends", key, dict(frame_ms))

    def correct_backend(self, key: str, name: str, factor: float) -> None:
        """What a backend needs turned out to be so many times what was measured. One that was not
        measured stays unknown."""
        known = self.backends(key)
        if name in known and math.isfinite(known[name]):
            self.keep_backends(key, known | {name: round(known[name] * factor, 3)})

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not is_object(found) or found.get("machine") != self._machine:
            return {}
        return found

    def _section(self, name: str) -> dict[str, object]:
        found = self._read().get(name)
        return found if is_object(found) else {}

    def _keep(self, section: str, key: str, value: object) -> None:
        content = {**self._read(), "machine": self._machine}
        content[section] = {**self._section(section), key: value}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(content, indent=1))
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path, error)


def _speed(value: object) -> Speed | None:
    """A measurement as it was kept; None for one of another version, or a damaged one."""
    if not is_object(value) or set(value) != {each.name for each in fields(Speed)}:
        return None
    counts: tuple[Any, ...] = value["threads"], value["draft_tokens"]
    times: tuple[Any, ...] = value["codes_ms"], value["call_ms"], value["decode_ms"], value["rtf"]
    if not all(type(count) is int and 0 <= count <= _MOST for count in counts) or not counts[0]:
        return None
    if not all(_is_time(time) for time in times) or not isinstance(value["overlapped"], bool):
        return None
    conditions = _conditions(value["conditions"])
    if conditions is None:
        return None
    rest: tuple[Any, ...] = (*times[:3], value["overlapped"], times[3], conditions)
    return Speed(*counts, *rest)


def _conditions(value: object) -> MeasuringConditions | None:
    """As they were kept; None for damaged ones, and for bad ones, which are not kept."""
    if not is_object(value) or set(value) != {each.name for each in fields(MeasuringConditions)}:
        return None
    measured, others, alone, utterances = (
        value[name] for name in ("measured", "others_cores", "alone", "utterances")
    )
    if not isinstance(measured, str) or not isinstance(alone, bool):
        return None
    if not isinstance(others, int | float) or not _is_time(others):
        return None
    if type(utterances) is not int or utterances < 0:
        return None
    found = MeasuringConditions(measured[:_MOST_TEXT], others, alone, utterances)
    return found if found.good else None


def _is_time(value: object) -> bool:
    """Milliseconds that something can have taken."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_MS
