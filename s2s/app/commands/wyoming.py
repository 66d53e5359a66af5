"""The command `wyoming`: its flags; its work is in `s2s.app.serving.wyoming_command`."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation

VALUES = {
    "host": ("wyoming.host", "address to listen on (0.0.0.0: every network of this machine)"),
    "port": ("wyoming.port", "port to listen on"),
    "max-connections": ("wyoming.max_connections", "connections at a time"),
}
"""Flags that set one key: flag -> (key, help)."""


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    for flag, (_, text) in VALUES.items():
        parser.add_argument(f"--{flag}", metavar=flag.rpartition("-")[2].upper(), help=text)
    parser.add_argument(
        "--allow",
        nargs="+",
        metavar="ADDRESS",
        help="who is let in beside this machine: addresses, networks (192.168.1.0/24), or private",
    )
    satellite = parser.add_mutually_exclusive_group()
    satellite.add_argument(
        "--satellite",
        action="store_true",
        help="be a satellite too: microphone and loudspeaker of this machine for Home Assistant",
    )
    satellite.add_argument(
        "--satellite-only", action="store_true", help="be a satellite, and load no models else"
    )
    parser.add_argument("--insecure", action="store_true", help="let every machine in")
    parser.add_argument(
        "--no-zeroconf", action="store_true", help="do not tell the network where it is"
    )


def given_settings(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each that was given."""
    given = [
        (f"--{flag}", key, value)
        for flag, (key, _) in VALUES.items()
        if (value := getattr(options, flag.replace("-", "_"))) is not None
    ]
    if options.allow:
        given.append(("--allow", "wyoming.allow", ",".join(options.allow)))
    if options.satellite or options.satellite_only:
        mode = "alone" if options.satellite_only else "beside"
        given.append(("--satellite", "wyoming.satellite.mode", mode))
    if options.insecure:
        given.append(("--insecure", "wyoming.insecure", "true"))
    if options.no_zeroconf:
        given.append(("--no-zeroconf", "wyoming.zeroconf", "false"))
    return given


def run(call: Invocation) -> int:
    """Serve until Ctrl-C."""
    from s2s.app.serving.wyoming_command import serve_wyoming

    return serve_wyoming(call.config(), call.store)
