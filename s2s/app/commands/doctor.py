"""The command `doctor`: what is looked at is in `s2s.app.doctor`."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure Qwen3-TTS on this machine afresh, and print what was tried",
    )


def run(call: Invocation) -> int:
    """Look at this machine, or measure it."""
    if call.options.measure:
        from s2s.app.doctor.measure import measure

        return measure(call.config(), call.store)
    from s2s.app.doctor.findings import doctor

    return doctor(call.config(), call.store)
