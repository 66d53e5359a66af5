"""Events and timelines as lines of JSON, and back. What is secret is not written."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path

from s2s.core.events import Event, SpeechStarted, SpeechStopped
from s2s.core.messages import TurnId
from s2s.core.metrics import Point, Timeline
from s2s.core.untyped import is_mapping, is_sequence

HIDDEN = "***"
MIN_SECRET = 4
"""A shorter text is in too many words to be hidden."""
_EVENTS: Mapping[str, type] = {kind.__name__: kind for kind in typing.get_args(Event)}


class Secrets:
    """Texts that are never written.

    Args:
        values: each is replaced by `HIDDEN` wherever it occurs.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = {value.strip() for value in values if len(value.strip()) >= MIN_SECRET}
        escaped = {json.dumps(value, ensure_ascii=False)[1:-1] for value in known}
        self._values = sorted(known | escaped, key=len, reverse=True)

    def hide(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return text


def json_line(record: Mapping[str, object], secrets: Secrets) -> bytes:
    """One line; what JSON cannot hold is written as text, and numbers that are none as null."""
    text = json.dumps(_plain(record), ensure_ascii=False, separators=(",", ":"), default=str)
    return secrets.hide(text).encode("utf-8", "replace") + b"\n"


def of_event(at_s: float, event: Event, begin_s: float = 0.0) -> dict[str, object]:
    """An event that was told at `at_s`. Times count from `begin_s`, the beginning of the record."""
    fields = dataclasses.asdict(event)
    if isinstance(event, SpeechStarted | SpeechStopped):
        fields["at_s"] = round(event.at_s - begin_s, 6)
    return {"time_s": round(at_s - begin_s, 6), "event": type(event).__name__, **fields}


def to_event(line: Mapping[str, object]) -> tuple[float, Event] | None:
    """When, and what was told; None for an event that this version does not know."""
    kind, at_s = _EVENTS.get(str(line.get("event"))), line.get("time_s")
    if kind is None or not isinstance(at_s, int | float):
        return None
    try:
        return float(at_s), typing.cast(Event, _built(kind, line))
    except (TypeError, ValueError, KeyError):
        return None


def of_timeline(timeline: Timeline, begin_s: float) -> dict[str, object]:
    """The timeline of a response; its marks count from the beginning of the record."""
    return {
        "turn": timeline.turn.turn_id,
        "revision": timeline.turn.turn_revision,
        "marks": {point: round(at_s - begin_s, 6) for point, at_s in timeline.marks.items()},
        "values": dict(timeline.values),
        "segments": [dict(each) for each in timeline.segments],
        "taken_back_s": None
        if timeline.taken_back_s is None
        else round(timeline.taken_back_s - begin_s, 6),
    }


def to_timeline(line: Mapping[str, object]) -> Timeline | None:
    """The timeline, on the clock of the record; None for what is none."""
    marks, back = line.get("marks"), line.get("taken_back_s")
    turn, revision = line.get("turn"), line.get("revision")
    if not (is_mapping(marks) and isinstance(turn, str) and isinstance(revision, int)):
        return None
    found = Timeline(TurnId(turn, revision))
    for point, at_s in marks.items():
        if isinstance(at_s, int | float) and point in typing.get_args(Point):
            found.marks[typing.cast(Point, point)] = float(at_s)
    if isinstance(back, int | float):
        found.taken_back_s = float(back)
    return found


def read_lines(path: Path) -> list[dict[str, object]]:
    """The objects of a file of JSON lines, none where there is no file. The last line may have been
    cut off while it was written; what cannot be read is left out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    found: list[dict[str, object]] = []
    for line in text.splitlines():
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if is_mapping(value):
            found.append({str(key): item for key, item in value.items()})
    return found


def _plain(value: object) -> object:
    """`value` with what JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if is_mapping(value):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_sequence(value):
        return [_plain(item) for item in value]
    return value


def _built(kind: type, values: Mapping[str, object]) -> object:
    """A dataclass of `kind` from its fields. Raises TypeError where they are others."""
    hints = typing.get_type_hints(kind)
    given = {name: _of_hint(hints[name], values[name]) for name in hints if name in values}
    return kind(**given)


def _of_hint(hint: object, value: object) -> object:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    for option in options:
        if is_mapping(value) and isinstance(option, type) and dataclasses.is_dataclass(option):
            return _built(option, {str(key): item for key, item in value.items()})
        if typing.get_origin(option) is tuple and isinstance(value, list):
            return tuple(typing.cast(list[object], value))
    return value
