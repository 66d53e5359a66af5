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
        help="measure how fast each stage is on this machine; with --tts qwen3, what it is to use",
    )
    parser.add_argument(
        "--sound", action="store_true", help="play a sound, and measure what of it is heard: echo"
    )
    parser.add_argument(
        "--json", action="store_true", dest="as_json", help="print one JSON object, for programs"
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

        return measure(call.config(), call.store, as_json=call.options.as_json)
    if call.options.sources:
        from s2s.app.doctor.sources import sources

        return sources(call.store)
    from s2s.app.doctor.findings import DoctorWishes, doctor

    options = call.options
    wishes = DoctorWishes(level=True, sound=options.sound, network=True, as_json=options.as_json)
    return doctor(call.config(), call.store, wishes)
