"""The command `bench`: what it measures is in `s2s.bench`."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation
from s2s.bench import commands


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    commands.add_actions(parser, common)


def run(call: Invocation) -> int:
    """Measure."""
    return commands.run(call.options, call.config(), call.store)
