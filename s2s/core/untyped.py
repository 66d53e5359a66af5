"""What comes of JSON, YAML or a library without types: looked at once, and typed from there on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether it is an object of JSON, whose keys are texts."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether it is any mapping of names; YAML's other keys are read as texts."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether it is a list; of what, is not known yet."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Whether it is a list or a tuple; of what, is not known yet."""
    return isinstance(value, list | tuple)
