"""What a parser takes, as tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from s2s.app.parser_tables import TakenFlag, parsers, subparsers, taken_flags


def made() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("x")
    parser.add_argument("--fast", action="store_true", help="quickly")
    group = parser.add_argument_group("files")
    group.add_argument("-o", "--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=("a", "b"))
    commands = parser.add_subparsers()
    rm = commands.add_parser("rm")
    rm.add_argument("names", nargs="+", type=Path)
    rm.add_subparsers().add_parser("all")
    return parser


def test_flags_of_groups_too_are_told_in_order() -> None:
    assert taken_flags(made())[1:] == [
        TakenFlag(("--fast",), "fast", "quickly", "nothing"),
        TakenFlag(("-o", "--output"), "output", "", "file"),
        TakenFlag(("--kind",), "kind", "", "word", ("a", "b")),
    ]


def test_commands_and_their_actions_are_found_by_path() -> None:
    parser = made()
    assert [path for path, _ in parsers(parser)] == [(), ("rm",), ("rm", "all")]
    [(rm, inner)] = subparsers(parser).items()
    assert rm == "rm"
    assert taken_flags(inner)[1] == TakenFlag((), "names", "", "file")
    assert subparsers(subparsers(inner)["all"]) == {}
