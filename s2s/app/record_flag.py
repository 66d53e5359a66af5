"""The flag `--record`, of the commands that hold conversations."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_record(parser: argparse.ArgumentParser) -> None:
    """Describe it."""
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FOLDER",
        help="record each conversation in a folder of its own in this one: sound, words, times",
    )


def given_record(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value), if it was given."""
    folder: Path | None = options.record
    return [] if folder is None else [("--record", "record.folder", str(folder))]
