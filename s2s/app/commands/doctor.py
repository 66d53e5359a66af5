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
    parser.add_argument(
        "--sources",
        action="store_true",
        help="ask every place that models come from whether it has them; fetches none",
    )


def run(call: Invocation) -> int:
    """Look at this machine, measure it, or ask where models come from."""
    if call.options.measure:
        from s2s.app.doctor.measure import measure

        return measure(call.config(), call.store)
    if call.options.sources:
        from s2s.app.doctor.sources import sources

        return sources(call.store)
    from s2s.app.doctor.findings import doctor

    return doctor(call.config(), call.store)
