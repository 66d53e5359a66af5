"""The command `replay`: its work is in `s2s.app.replaying`."""

from __future__ import annotations

import argparse
from pathlib import Path

from s2s.app.commands.table import Invocation


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument("folder", type=Path, help="of one conversation, as `talk --record` made it")
    parser.add_argument(
        "--answers",
        choices=("record", "fresh"),
        default="record",
        help="the language model's: as they were then, or asked for again",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="hold nothing again: write the page of the conversation as it was (report.html)",
    )


def run(call: Invocation) -> int:
    """Hold it again, or write its page."""
    from s2s.app.replaying import replay, report

    if call.options.report:
        return report(call.options.folder)
    return replay(call.options, call.store)
