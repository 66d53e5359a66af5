"""The command `completion`: a script by which a shell completes what one types of `s2s`."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation
from s2s.app.completion import SHELLS, completions, script


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument("shell", choices=SHELLS, help="which shell it is for")


def run(call: Invocation) -> int:
    """Print the script."""
    from s2s.app.cli import whole_parser

    print(script(call.options.shell, completions(whole_parser(), call.store)), end="")
    return 0
