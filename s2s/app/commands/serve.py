"""The command `serve`: its work and its flags are in `s2s.app.serving`."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation
from s2s.app.serving import flags


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    flags.add_flags(parser)


def given_settings(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each that was given."""
    return flags.given_settings(options)


def run(call: Invocation) -> int:
    """Serve until Ctrl-C."""
    from s2s.app.serving.command import serve

    return serve(call.config(), call.store, call.options.api_key)
