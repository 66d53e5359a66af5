"""What a parser takes, as tables: its commands, its flags, what follows each flag.

argparse has no public way to ask for that; who wants to know asks here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Follows = Literal["nothing", "file", "word"]
"""What comes behind a flag."""


@dataclass(frozen=True, slots=True)
class TakenFlag:
    """A flag, or an argument without one."""

    names: tuple[str, ...]
    """Such as -o and --output; none of an argument without a flag."""
    dest: str
    help: str
    follows: Follows
    choices: tuple[str, ...] = ()
    """What the word may be; empty: anything."""


def parsers(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """`parser` and those of its commands and their actions, each with how it is called:
    `("models", "rm")`."""
    yield path, parser
    for name, each in subparsers(parser).items():
        yield from parsers(each, (*path, name))


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a parser's commands, by name."""
    for action in _actions(parser):
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            return dict(cast("Mapping[str, argparse.ArgumentParser]", action.choices))
    return {}


def taken_flags(parser: argparse.ArgumentParser) -> list[TakenFlag]:
    """The flags and arguments of one parser, in order; commands are none."""
    return [
        _flag(action)
        for action in _actions(parser)
        if not isinstance(action, argparse._SubParsersAction)  # pyright: ignore[reportPrivateUsage]
    ]


def _flag(action: argparse.Action) -> TakenFlag:
    follows: Follows = "nothing"
    if action.nargs != 0:
        follows = "file" if action.type is Path else "word"
    choices = tuple(str(choice) for choice in action.choices or ())
    help_text = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
    return TakenFlag(tuple(action.option_strings), action.dest, help_text, follows, choices)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # pyright: ignore[reportPrivateUsage]
