"""What the commands show on a terminal: progress of downloads, tables, sizes."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from s2s.models.fetch import Progress

_MOST_STEPS = 100
"""A total up to this counts steps, not bytes."""


@contextmanager
def download_bars() -> Generator[Progress, None, None]:
    """A `Progress` that draws a bar for each download or step on stderr, with the time that is
    left; lines where it is no terminal.

    The bars are drawn from the first of them on, so that a run without one shows nothing.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_lines()
        return
    bars = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeRemainingColumn(),
        console=console,
    )
    tasks: dict[str, TaskID] = {}

    def show(what: str, done_bytes: int, total_bytes: int) -> None:
        if what not in tasks:
            if not tasks:
                bars.start()
            tasks[what] = bars.add_task(what, total=total_bytes or None, amount="")
        bars.update(tasks[what], completed=done_bytes, amount=_amount(done_bytes, total_bytes))

    try:
        yield show
    finally:
        if tasks:
            bars.stop()


def _amount(done: int, total: int) -> str:
    """How much is done: bytes, or a few steps."""
    if 0 < total <= _MOST_STEPS:
        return f"{done}/{total}"
    return f"{megabytes(done)} of {megabytes(total)}" if total else megabytes(done)


def _plain_lines() -> Progress:
    """A `Progress` that says once what is being fetched."""
    told: set[str] = set()

    def show(what: str, _done_bytes: int, total_bytes: int) -> None:
        if what not in told:
            told.add(what)
            size = f" ({megabytes(total_bytes)})" if total_bytes > _MOST_STEPS else ""
            work = "" if " " in what else "fetching "  # a step says itself what it does
            print(f"{work}{what}{size}", file=sys.stderr, flush=True)

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
