"""The command `memory`: what the assistant was asked to remember, shown, added to and erased."""

from __future__ import annotations

import argparse
from pathlib import Path

from s2s.app.commands.table import Invocation
from s2s.app.keeping.removal import KeptError
from s2s.app.memory import default_folder, note_memory
from s2s.llm.memory.folder import MemoryFolder, MemoryNote, about


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its actions."""
    parser.add_argument("--folder", type=Path, help="the memory of this folder")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--folder", type=Path, help="the memory of this folder")
    parents = [common, folder]
    actions.add_parser("list", help="show it (what happens without an action)", parents=parents)
    add = actions.add_parser("add", help="have something remembered", parents=parents)
    add.add_argument("text", help="what")
    gone = actions.add_parser("rm", help="have something forgotten", parents=parents)
    gone.add_argument(
        "notes", nargs="*", metavar="NOTE", help="numbers of the list, or words that a note holds"
    )
    gone.add_argument("--all", action="store_true", help="all of it, in files of one's own too")


def given_settings(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each that was given."""
    if options.folder is None:
        return []
    return [("--folder", "memory.folder", str(options.folder))]


def run(call: Invocation) -> int:
    """Show, add or erase."""
    options, config = call.options, call.config()
    memory = MemoryFolder(config.memory.folder or default_folder())
    match options.action:
        case "add":
            kept = memory.remember(options.text)
            note_memory(memory, call.store)
            print(f"{memory.own_file}: {'remembered' if kept else 'was remembered already'}")
            return 0
        case "rm":
            return forget(memory, options.notes, everything=options.all)
        case _:
            return show(memory)


def show(memory: MemoryFolder) -> int:
    """Print the notes with their numbers, newest first, and where they are."""
    notes = memory.notes()
    for number, note in enumerate(notes, 1):
        print(f"{number:3}  {note.text}  ({note.file.name})")
    if not notes:
        print(f"nothing is remembered in {memory.path}")
        print('ask for it in `python -m s2s --memory`: "Remember that my cat is called Mia."')
    else:
        print(f"in {memory.path}: any editor changes it")
    return 0


def forget(memory: MemoryFolder, wanted: list[str], *, everything: bool) -> int:
    """Delete notes by number or by words.

    Raises:
        KeptError: nothing was named, or no note is meant.
    """
    notes = memory.notes()
    if not everything and not wanted:
        raise KeptError("name a note by its number or its words, or --all")
    gone = set(notes) if everything else {note for each in wanted for note in _meant(each, notes)}
    lost = memory.forget(lambda note: note in gone)
    for note in lost:
        print(f"forgotten: {note.text}")
    if not lost:
        print(f"nothing is remembered in {memory.path}")
    return 0


def _meant(wanted: str, notes: list[MemoryNote]) -> list[MemoryNote]:
    if wanted.isascii() and wanted.isdigit():
        if 1 <= int(wanted) <= len(notes):
            return [notes[int(wanted) - 1]]
        raise KeptError(f"there is no note {wanted}: `python -m s2s memory` shows {len(notes)}")
    found = [note for note in notes if about(wanted, note.text)]
    if not found:
        raise KeptError(f"no note is about “{wanted}”: `python -m s2s memory` shows them")
    return found
