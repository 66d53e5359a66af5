"""The command `cluster`: its work is in `s2s.app.cluster`."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation

VALUES = {
    "replicas": ("cluster.replicas", "processes of sessions"),
    "max-sessions": ("serve.max_sessions", "conversations of each at a time"),
    "host": ("serve.host", "address to listen on (0.0.0.0: every network of this machine)"),
    "port": ("serve.port", "port to listen on"),
    "address": ("cluster.address", "of a Ray cluster that runs; none: one is started here"),
}
"""Flags that set one key: flag -> (key, help)."""


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    for flag, (_, text) in VALUES.items():
        parser.add_argument(f"--{flag}", metavar=flag.rpartition("-")[2].upper(), help=text)
    parser.add_argument(
        "--insecure", action="store_true", help="serve other machines without a key"
    )
    parser.add_argument(
        "--environment",
        action="store_true",
        help="print the variables that every machine needs before Ray is started there",
    )


def given_settings(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each that was given."""
    given = [
        (f"--{flag}", key, value)
        for flag, (key, _) in VALUES.items()
        if (value := getattr(options, flag.replace("-", "_"))) is not None
    ]
    if options.insecure:
        given.append(("--insecure", "serve.insecure", "true"))
    return given


def run(call: Invocation) -> int:
    """Serve until Ctrl-C."""
    from s2s.app.cluster.command import cluster
    from s2s.app.cluster.environment import exports

    config = call.config()
    if call.options.environment:
        print(exports(config))
        return 0
    return cluster(config)
