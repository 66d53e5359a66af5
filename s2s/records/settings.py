"""The settings of a session as they are kept with its record: all of them, and nothing secret."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from s2s.config import loader
from s2s.config.schema import Config
from s2s.core.untyped import is_mapping, is_sequence
from s2s.records.lines import HIDDEN

_SECRET = re.compile(r"(key|token|secret|password|passwd|authorization|credential)s?$", re.I)
_NAMES_VARIABLE = re.compile(r"_env$")
_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_SERVERS_OWN = ("headers", "extra_headers", "env")
"""Mappings that go to a server as they are: their values may be anything, keys among them."""
_USUAL_VARIABLES = {"S2S_API_KEY", "OPENAI_API_KEY"}
"""Read without being named."""


def written(config: Config) -> bytes:
    """YAML that `--config` reads; in place of what may be a secret there is `HIDDEN`."""
    values = without_secrets(loader.as_dict(config))
    text = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=1_000)
    return text.encode("utf-8")


def without_secrets(value: object, key: str = "") -> object:
    """`value` of the setting `key` without what may be one."""
    if is_mapping(value):
        hidden = key in _SERVERS_OWN
        return {
            str(name): HIDDEN if hidden else without_secrets(item, str(name))
            for name, item in value.items()
        }
    if is_sequence(value):
        return [without_secrets(item, key) for item in value]
    if not isinstance(value, str) or not value:
        return value
    if _SECRET.search(key) and not _NAMES_VARIABLE.search(key):
        return HIDDEN
    return _IN_URL.sub(HIDDEN, value)


def secrets_of(config: Config, *given: str | None) -> list[str]:
    """What may be secret and must not come into a record by another way, such as the message of an
    error: the values of the variables that settings name, of this program's own key, and `given`.
    """
    named = set(_variables(loader.as_dict(config)))
    values = [os.environ.get(name, "") for name in sorted(named | _USUAL_VARIABLES)]
    return [value for value in (*values, *_secret_values(loader.as_dict(config)), *given) if value]


def read(folder_settings: Path, changes: Iterable[tuple[str, str, str]] = ()) -> Config:
    """The settings of a record, with `changes` over them: (flag, key, value).

    Raises:
        SettingError, RegistryError: they are none of this version, or a change is none.
    """
    return loader.load(file=folder_settings, environment={}, flags=changes)


def _variables(value: object, key: str = "") -> Iterable[str]:
    if is_mapping(value):
        for name, item in value.items():
            yield from _variables(item, str(name))
    elif isinstance(value, str) and value and _NAMES_VARIABLE.search(key):
        yield value


def _secret_values(value: object, key: str = "", hidden: bool = False) -> Iterable[str]:
    """What `without_secrets` leaves out."""
    if is_mapping(value):
        for name, item in value.items():
            yield from _secret_values(item, str(name), hidden or key in _SERVERS_OWN)
    elif is_sequence(value):
        for item in value:
            yield from _secret_values(item, key, hidden)
    elif isinstance(value, str) and value:
        if hidden or (_SECRET.search(key) and not _NAMES_VARIABLE.search(key)):
            yield value
        yield from _IN_URL.findall(value)


Changes = Mapping[str, tuple[object, object]]
"""Dotted key -> what it was, and what it is now."""


def changed(old: Config, new: Config) -> Changes:
    """Settings that differ: dotted key -> (old, new)."""
    before, after = _flat(loader.as_dict(old)), _flat(loader.as_dict(new))
    return {
        key: (before.get(key), after.get(key))
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    }


def _flat(value: object, key: str = "") -> dict[str, object]:
    if not is_mapping(value):
        return {key: value}
    found: dict[str, object] = {}
    for name, item in value.items():
        found |= _flat(item, f"{key}.{name}" if key else str(name))
    return found
