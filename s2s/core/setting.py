"""Settings: fields of a frozen dataclass that carry what they mean and how they were called before.

What a setting means stands in the field's metadata, not in a docstring below it, so that `config`
and `--help` can show it where no source is shipped. Knows no file, no flag and no setting by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_DOC = "doc"
_FORMERLY = "formerly"


def setting(default: T, doc: str, *, formerly: tuple[str, ...] = ()) -> T:
    """A field with a default that cannot change.

    Args:
        default: its value where nothing else is given.
        doc: what it means, in a sentence or two.
        formerly: names under which it is still read, with a hint.
    """
    metadata = {_DOC: doc, _FORMERLY: formerly}
    made: Any = dataclasses.field(default=default, metadata=metadata)
    return made


def made_setting(factory: Callable[[], T], doc: str, *, formerly: tuple[str, ...] = ()) -> T:
    """A field whose default is made anew for each object, as by `default_factory`."""
    metadata = {_DOC: doc, _FORMERLY: formerly}
    made: Any = dataclasses.field(default_factory=factory, metadata=metadata)
    return made


def documented(cls: type) -> dict[str, str]:
    """Field name -> what it means, in one line; "" for a field that is no setting."""
    return {
        field.name: " ".join(str(field.metadata.get(_DOC, "")).split())
        for field in dataclasses.fields(cls)
    }


def former_names(cls: type) -> dict[str, str]:
    """Former name -> name of the field that it is now."""
    return {
        old: field.name
        for field in dataclasses.fields(cls)
        for old in field.metadata.get(_FORMERLY, ())
    }
