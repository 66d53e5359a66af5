"""The command `erase`: all that the program keeps on this machine, told and deleted."""

from __future__ import annotations

import argparse

from s2s.app.commands.table import Invocation
from s2s.app.keeping.kept import NAMES, forget_places, not_ours, what_there_is
from s2s.app.keeping.removal import remove, size_bytes, told_size
from s2s.models.store import Store


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument(
        "--only",
        action="append",
        choices=NAMES,
        metavar="KIND",
        help=f"of these alone, may be given often: {', '.join(NAMES)}",
    )
    parser.add_argument("--list", action="store_true", help="tell what there is; delete nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(call: Invocation) -> int:
    """Erase what was asked for, or all."""
    options = call.options
    wanted: list[str] = options.only or list(NAMES)
    if options.list:
        return tell(call.store, wanted)
    return erase(call.store, wanted, sure=options.yes)


def tell(store: Store, kinds: list[str]) -> int:
    """Say what there is."""
    found = [each for each in what_there_is(store.root) if each.what in kinds]
    for each in found:
        print(f"{each.what}: {told_size(each.size_bytes)}, {each.about}")
        for path in each.paths:
            print(f"  {path}")
    if not found:
        print(f"nothing is kept in {store.root}")
    _tell_others(store)
    return 0


def erase(store: Store, kinds: list[str], *, sure: bool) -> int:
    """Delete what is kept of these kinds, once that is confirmed.

    Raises:
        KeptError: as `remove`.
    """
    found = [each for each in what_there_is(store.root) if each.what in kinds]
    if not found:
        print(f"nothing to erase in {store.root}")
        return 0
    code = remove(store.root, found, sure=sure)
    forget_places(store.root)
    _tell_others(store)
    return code


def _tell_others(store: Store) -> None:
    for path in not_ours(store.root):
        print(f"left alone, not of this program: {path} ({told_size(size_bytes(path))})")
