"""The command `config`: every setting as YAML, each with what it means."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import is_dataclass

import yaml

from s2s.app.commands.table import Invocation
from s2s.config.loader import as_dict
from s2s.config.schema import Config, sections
from s2s.core.setting import documented
from s2s.core.untyped import is_mapping


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """It has none of its own."""


def run(call: Invocation) -> int:
    """Print the settings."""
    return show_config(call.config())


def show_config(config: Config) -> int:
    """Print every setting as YAML, each with what it means: the form that --config reads."""
    values = as_dict(config)
    for name, section in sections().items():
        print(f"# {documented(Config)[name]}\n{name}:")
        for line in _described(section, getattr(config, name), values[name], 1):
            print(line)
        print()
    return 0


def _described(kind: type, instance: object, values: object, depth: int) -> Iterator[str]:
    """Lines of YAML for one dataclass, a comment before each field that has a docstring."""
    assert is_mapping(values)
    indent = "  " * depth
    texts = documented(kind)
    for key, value in values.items():
        if texts[key]:
            yield f"{indent}# {texts[key]}"
        part: object = getattr(instance, key)
        if is_mapping(value) and is_dataclass(part):
            yield f"{indent}{key}:"
            yield from _described(type(part), part, value, depth + 1)
        else:
            text = yaml.safe_dump({key: value}, allow_unicode=True, width=1_000)
            yield from (indent + line for line in text.rstrip("\n").splitlines())
