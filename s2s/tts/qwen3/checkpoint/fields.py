"""The fields of a JSON file, each checked against what is computed before it is used.

A number has a bound, a choice its values; what is wrong raises the one error of model files, which
names file, field and value. Knows no model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from s2s.core.untyped import is_list, is_mapping, is_sequence
from s2s.tts.qwen3.errors import ModelFileError, SpecError

Config = Mapping[str, object]

MAX_JSON_BYTES = 64 << 20
"""The largest published file, a vocabulary, has 3 MB."""

RESTORE = "undo the edit, or fetch the checkpoint again"


def read_object(path: Path, error: type[ModelFileError] = SpecError) -> Config:
    """The JSON object in a file. Raises ``error`` when there is none."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise error(f"has more than {MAX_JSON_BYTES >> 20} MB", file=path, advice=RESTORE)
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise error(f"{path} is missing: not a checkpoint in the official layout") from None
    except RecursionError:
        raise error(f"{path} cannot be read: it is nested too deeply; {RESTORE}") from None
    except (OSError, ValueError) as reason:
        raise error(f"{path} cannot be read: {reason}; {RESTORE}") from reason
    if not is_mapping(content):
        raise error(f"{path} holds no JSON object; {RESTORE}")
    return content


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of ``file``, at ``path`` in it ("" is the whole)."""

    config: Config = field(repr=False)
    file: str
    path: str = ""
    error: type[ModelFileError] = SpecError

    def has(self, key: str) -> bool:
        """It is there, and not null."""
        return self.config.get(key) is not None

    def section(self, key: str) -> Fields:
        """An object inside."""
        value = self.config.get(key)
        if not is_mapping(value):
            self.refuse(key, "is missing" if value is None else f"is {_shown(value)}, no object")
        return replace(self, config=value, path=self.name(key))

    def name(self, key: str) -> str:
        """The field's name in the whole file."""
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, problem: str, advice: str = RESTORE) -> NoReturn:
        """Raise the error of this file for a field."""
        raise self.error(problem, file=self.file, field=self.name(key), advice=advice)

    def whole(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """A whole number from ``least`` to ``most``; where it is absent the default, if any."""
        value = self._value(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(key, f"must be a whole number, got {_shown(value)}")
        if not least <= value <= most:
            self.refuse(key, f"is {_shown(value)}, outside {least} to {most}")
        return value

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """A number from ``low`` to ``high``; where it is absent the default, if any."""
        value = self._value(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.refuse(key, f"must be a number, got {_shown(value)}")
        if not low <= value <= high:  # not a number is in no range either
            self.refuse(key, f"is {_shown(value)}, outside {low:g} to {high:g}")
        return float(value)

    def wholes(
        self, key: str, most: int, lengths: range, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """A list of whole numbers from 1 to ``most``, as long as one of ``lengths``."""
        value = self._value(key, default)
        if not is_sequence(value):
            self.refuse(key, f"must be a list of integers, got {_shown(value)}")
        if len(value) not in lengths:
            self.refuse(key, f"has {len(value)} numbers, not {lengths.start} to {lengths.stop - 1}")
        found: list[int] = []
        for item in value:
            if not isinstance(item, int) or isinstance(item, bool) or not 1 <= item <= most:
                self.refuse(key, f"must be integers from 1 to {most}, got {_shown(value)}")
            found.append(item)
        return tuple(found)

    def fixed(self, key: str, *computed: object) -> None:
        """A choice of which only some are computed here; absent it is one of these."""
        value = self.config.get(key)
        if value is not None and value not in computed:
            known = " or ".join(map(repr, computed))
            self.refuse(
                key, f"is {_shown(value)}; only {known} is supported", "take a published model"
            )

    def text(self, key: str, default: str | None = None) -> str:
        """A short text."""
        value = self._value(key, default)
        if not isinstance(value, str) or len(value) > 256:
            self.refuse(key, f"must be a text, got {_shown(value)}")
        return value

    def ids(self, key: str, count: int) -> dict[str, int]:
        """Names to rows of a table of ``count``. Some published conversions hold an id as a list
        of one: both are read."""
        if not self.has(key):
            return {}
        inside = self.section(key)
        found: dict[str, int] = {}
        for name, value in inside.config.items():
            one = value[0] if is_list(value) and len(value) == 1 else value
            if not isinstance(one, int) or isinstance(one, bool):
                self.refuse(key, f"of {name} must be a number, got {_shown(value)}")
            if not 0 <= one < count:
                self.refuse(key, f"of {name} is {_shown(one)}: the table has rows 0 to {count - 1}")
            found[str(name).lower()] = one
        return found

    def _value(self, key: str, default: object) -> object:
        value = self.config.get(key)
        return default if value is None else value


def _shown(value: object) -> str:
    """The value as it is written, not too long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
