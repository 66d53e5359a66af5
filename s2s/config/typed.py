"""Frozen dataclasses from plain values, types checked; and back.

Values come as text (environment, flags, plain scalars of YAML), which the field's type decides how
to read, or typed (quoted text and lists of YAML, values of a program). A mapping that is given
replaces its default whole. Knows no setting by name.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import logging
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from s2s.config import settings_yaml
from s2s.config.settings_yaml import Plain, meaning
from s2s.core.setting import former_names
from s2s.core.untyped import is_mapping, is_sequence

log = logging.getLogger(__name__)

_NOTHING = ("", "none", "null")
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class SettingError(ValueError):
    """A setting that cannot be used. The message names where it was given, key and value."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value and where it came from."""

    value: object
    origin: str
    """A file, an environment variable or a flag."""
    is_text: bool = False
    """The value is text whose meaning the field's type decides."""


Tree = dict[str, "Tree | Given"]
"""Keys to sub-trees or values."""


def tree(values: Mapping[str, object], origin: str) -> Tree:
    """Plain nested mappings as a tree of values given by `origin`."""
    return {
        str(key): tree(value, origin) if is_mapping(value) else _given(value, origin)
        for key, value in values.items()
    }


def _given(value: object, origin: str) -> Given:
    return Given(value, origin, is_text=isinstance(value, Plain))


def merged(low: Tree, high: Tree) -> Tree:
    """Both trees; where both give a value, `high` wins."""
    result = dict(low)
    for key, node in high.items():
        below = result.pop(key, None)  # so that keys come in the order of their layers
        if isinstance(below, dict) and isinstance(node, dict):
            result[key] = merged(below, node)
        else:
            result[key] = node
    return result


def load_reference(reference: str) -> object:
    """The object that `module:name` names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True, slots=True)
class Late:
    """A `default_factory` whose class, `module:Class`, is imported only when it is used."""

    reference: str

    def __call__(self) -> typing.Any:
        return self.load()()

    def load(self) -> type:
        return typing.cast(type, load_reference(self.reference))


def field_types(cls: type) -> dict[str, object]:
    """Field name -> type of a dataclass, the classes of `Late` fields included."""
    late = {
        str(field.type): field.default_factory.load()
        for field in dataclasses.fields(cls)
        if isinstance(field.default_factory, Late)
    }
    hints = typing.get_type_hints(cls, localns=late)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def build(cls: type, node: Tree, path: str = "") -> object:
    """Make a dataclass from a tree; what the tree does not give keeps its default.

    Args:
        cls: the dataclass; fields may be dataclasses themselves.
        node: values by field name.
        path: key of `node` itself, for messages: `turns.segmenter`.

    Raises:
        SettingError: an unknown key, a value of the wrong type, or one that the class refuses.
    """
    hints = field_types(cls)
    arguments: dict[str, object] = {}
    for key, value in renamed(cls, node, path).items():
        where = f"{path}.{key}" if path else key
        if key not in hints:
            raise SettingError(f"{origin_of(value)}: {unknown_key(where, hints)}")
        arguments[key] = convert(value, hints[key], where)
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:
        place = f"{origin_of(node)}: {path or cls.__name__}"
        raise SettingError(f"{place}: {error}") from error


def renamed(cls: type, node: Tree, path: str) -> Tree:
    """The tree with the former names of settings replaced by today's, and a warning for each; and
    with `_` for `-` in the names of settings, which is how flags may write them.

    Where both are given the later one wins: merged layers are in order, the highest last.
    """
    former = former_names(cls)
    known = {field.name for field in dataclasses.fields(cls)}
    result: Tree = {}
    for key, value in node.items():
        underscored = key.replace("-", "_")
        key = underscored if underscored in known or underscored in former else key
        name = former.get(key, key)
        if name != key:
            section = f"{path}." if path else ""
            log.warning(
                "%s: %s%s is now called %s%s; the old name is still read. Change it where it was "
                "given.", origin_of(value), section, key, section, name,
            )  # fmt: skip
        result[name] = value
    return result


def unknown_key(where: str, known: Iterable[str]) -> str:
    """What to say about a key that does not exist: the nearest match, or all there are."""
    known = list(known)
    section, _, key = where.rpartition(".")
    near = difflib.get_close_matches(key, known, n=1)
    if near:
        return f"unknown key {where}. Did you mean {f'{section}.' if section else ''}{near[0]}?"
    return f"unknown key {where}. Known are {', '.join(known) or 'none'}."


def origin_of(node: Tree | Given) -> str:
    """Where a value, or the first value of a tree, was given."""
    while isinstance(node, dict):
        if not node:
            return "empty section"
        node = next(iter(node.values()))
    return node.origin


def convert(node: Tree | Given, hint: object, where: str) -> object:
    """A value as the type `hint` wants it.

    Raises:
        SettingError: it is not of that type.
    """
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, section(node, where), where)
    if isinstance(node, dict):
        node = Given(_plain_tree(node), origin_of(node))
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _from_union(node, typing.get_args(hint), where)
    if origin is typing.Literal:
        return _from_literal(node, typing.get_args(hint), where)
    if origin in (tuple, list):
        return _from_list(node, typing.get_args(hint), where)
    if origin in (dict, Mapping):
        return _from_mapping(node, typing.get_args(hint), where)
    return _from_scalar(node, hint, where)


def section(node: Tree | Given, where: str) -> Tree:
    """The keys of a section; one that was left empty has none."""
    if isinstance(node, dict):
        return node
    if node.value is None:
        return {}
    if is_mapping(node.value):
        return tree(node.value, node.origin)
    raise _wrong(node, where, "a section with keys")


def _plain_tree(node: Tree) -> dict[str, object]:
    plain_tree: dict[str, object] = {}
    for key, value in node.items():
        if isinstance(value, dict):
            plain_tree[key] = _plain_tree(value)
        else:
            plain_tree[key] = Plain(value.value) if value.is_text else value.value
    return plain_tree


def _from_union(given: Given, hints: tuple[object, ...], where: str) -> object:
    text = str(given.value).strip().casefold()
    rest = [hint for hint in hints if hint is not type(None)]
    literals = [hint for hint in rest if typing.get_origin(hint) is typing.Literal]
    own = {str(word).casefold() for hint in literals for word in typing.get_args(hint)}
    nothing = given.is_text and text in _NOTHING and text not in own  # "none" may be a word of it
    if type(None) in hints and (given.value is None or nothing):
        return None
    for hint in rest[:-1]:
        try:
            return convert(given, hint, where)
        except SettingError:
            continue
    return convert(given, rest[-1], where)


def _from_literal(given: Given, allowed: tuple[object, ...], where: str) -> object:
    text = str(given.value).strip()
    for value in allowed:
        if given.is_text:  # on, off, yes and no are the setting's own words here
            if text.casefold() == str(value).casefold():
                return value
        elif given.value == value:
            return value
    raise _wrong(given, where, f"one of {', '.join(str(value) for value in allowed)}")


def _from_list(given: Given, hints: tuple[object, ...], where: str) -> object:
    value = given.value
    if given.is_text:
        value = [item.strip() for item in str(value).split(",") if item.strip()]
    if not is_sequence(value):
        raise _wrong(given, where, "a list")
    if len(hints) == 2 and hints[1] is Ellipsis:
        hints = (hints[0],) * len(value)
    if len(value) != len(hints):
        raise _wrong(given, where, f"a list of {len(hints)}")
    return tuple(
        convert(_item(given, item), hint, f"{where}[{i}]")
        for i, (item, hint) in enumerate(zip(value, hints, strict=True))
    )


def _from_mapping(given: Given, hints: tuple[object, ...], where: str) -> object:
    value = given.value
    if given.is_text:
        try:
            value = settings_yaml.read(str(value).encode())
        except (yaml.YAMLError, RecursionError):
            value = None
    if not is_mapping(value):
        raise _wrong(given, where, "keys with values, as {key: value}")
    return {
        str(key): convert(_given(item, given.origin), hints[1], f"{where}.{key}")
        for key, item in value.items()
    }


def _item(given: Given, item: object) -> Given:
    """One value of a list that was given as text or as a list."""
    return Given(item, given.origin, is_text=given.is_text or isinstance(item, Plain))


def _from_scalar(given: Given, hint: object, where: str) -> object:
    readers: dict[object, tuple[Callable[[Given], object], str]] = {
        bool: (_bool, "true or false"),
        int: (_int, "a whole number"),
        float: (_float, "a number"),
        str: (_str, "text"),
        Path: (lambda given: Path(_str(given)), "a path"),
        object: (_any, "a value"),
    }
    if hint not in readers:
        raise TypeError(f"{where}: settings of type {hint} are not supported")
    read, expected = readers[hint]
    try:
        return read(given)
    except (TypeError, ValueError):
        raise _wrong(given, where, expected) from None


def _bool(given: Given) -> bool:
    if isinstance(given.value, bool):
        return given.value
    text = str(given.value).strip().lower()
    if given.is_text and text in _TRUE + _FALSE:
        return text in _TRUE
    raise ValueError


def _int(given: Given) -> int:
    if given.is_text:
        return _whole(str(given.value).strip())
    if isinstance(given.value, bool) or not isinstance(given.value, int):
        raise ValueError
    return given.value


def _whole(text: str) -> int:
    """`12`, `0x10`, `1e3`; a fraction is none."""
    try:
        return int(text, 0) if text.lower().startswith("0x") else int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def _any(given: Given) -> object:
    if given.is_text:
        try:
            return yaml.safe_load(str(given.value))
        except yaml.YAMLError:
            return given.value
    return meaning(given.value)


def _float(given: Given) -> float:
    if isinstance(given.value, bool) or not (given.is_text or isinstance(given.value, int | float)):
        raise ValueError
    number = float(str(given.value))
    if not math.isfinite(number):
        raise ValueError
    return number


def _str(given: Given) -> str:
    if not isinstance(given.value, str):
        raise ValueError
    return str(given.value)


def _wrong(given: Given, where: str, expected: str) -> SettingError:
    return SettingError(f"{given.origin}: {where} must be {expected}, got {given.value!r}")


def plain(value: object) -> object:
    """A dataclass as nested dictionaries and lists that YAML can hold; `build` undoes it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if is_mapping(value):
        return {str(key): plain(item) for key, item in value.items()}
    if is_sequence(value):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
