"""What the commands show on a terminal: progress of downloads, tables, sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from s2s.models.fetch import Progress


@contextmanager
def download_bars() -> Iterator[Progress]:
    """A `Progress` that draws a bar for each download on stderr; lines where it is no terminal.

    The bars are drawn from the first download on, so that a run without one shows nothing.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_lines()
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    bars = Bars(*columns, TransferSpeedColumn(), console=console)
    tasks: dict[str, TaskID] = {}

    def show(what: str, done_bytes: int, total_bytes: int) -> None:
        if what not in tasks:
            if not tasks:
                bars.start()
            tasks[what] = bars.add_task(what, total=total_bytes or None)
        bars.update(tasks[what], completed=done_bytes)

    try:
        yield show
    finally:
        if tasks:
            bars.stop()


def _plain_lines() -> Progress:
    """A `Progress` that says once what is being fetched."""
    told: set[str] = set()

    def show(what: str, _done_bytes: int, total_bytes: int) -> None:
        if what not in told:
            told.add(what)
            print(f"fetching {what} ({megabytes(total_bytes)})", file=sys.stderr, flush=True)

    return show


def megabytes(size_bytes: int) -> str:
    """A size as people read it: `98.4 MB`."""
    return f"{size_bytes / 1e6:.1f} MB"


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """A table on stdout, without frames; never cut off where the output is no terminal."""
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # a path may hold [brackets]: no markup
    console = Console()
    if not console.is_terminal:
        console = Console(width=10_000)
    console.print(table)
