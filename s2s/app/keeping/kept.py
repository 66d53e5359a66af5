"""All that the program keeps on this machine, by kind. A new place of files is a row here.

tests/app/keeping/test_kept.py looks through the sources for who writes below the cache, and at what
is there that no row names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from s2s.app.keeping.removal import Removal
from s2s.core.untyped import is_list
from s2s.records.files import SESSION
from s2s.system.whole_file import write_whole

RECORDS = "records"
PLACES = "places.json"
"""File of the cache with the folders elsewhere that something personal was written to."""


@dataclass(frozen=True, slots=True)
class KeptKind:
    """One kind of what is kept."""

    name: str
    about: str
    """What it is, and what erasing it means."""
    places: tuple[str, ...] = ()
    """Names in the cache."""
    personal: bool = False
    """It tells of a person."""
    elsewhere: bool = False
    """Folders of one's own choice hold it too: `note_place` remembers them."""


KINDS = (
    KeptKind(
        "memory",
        "what the assistant was asked to remember",
        ("memory",),
        personal=True,
        elsewhere=True,
    ),
    KeptKind(RECORDS, "recorded conversations", personal=True, elsewhere=True),
    KeptKind(
        "voiceprint", "your voice, the one that is listened to", ("my-voice.json",), personal=True
    ),
    KeptKind("voices", "voices that were enrolled for Qwen3-TTS", ("voices",), personal=True),
    KeptKind(
        "models",
        "model files: fetched again when they are needed",
        ("models", "hub", "kokoro-voices"),
    ),
    KeptKind(
        "converted",
        "made from models: made again when it is needed",
        ("split", "mms", "qwen3-converted", "qwen3-graphs"),
    ),
    KeptKind(
        "caches",
        "kernels and measurements of this machine: made again when they are needed",
        ("kernels", "qwen3-speed.json", "audio", "in-use"),
    ),
    KeptKind("certificates", "what `serve --tls` made: browsers will ask again", ("tls",)),
    KeptKind("list", "your own list of models", ("models.yaml",)),
)
"""In the order in which they are told: what is personal first."""
NAMES = tuple(kind.name for kind in KINDS)


def note_place(root: Path, kind: str, place: Path) -> None:
    """Remember that something of `kind` is kept in the folder `place`, outside of the cache.

    Raises:
        ValueError: that kind is not kept elsewhere.
    """
    if not any(each.name == kind and each.elsewhere for each in KINDS):
        raise ValueError(f"{kind} is kept in the cache alone")
    noted = [[kind, str(place.resolve())]]
    noted += [list(each) for each in _noted(root) if list(each) != noted[0]]
    root.mkdir(parents=True, exist_ok=True)
    _note(root, noted)


def what_there_is(root: Path) -> list[Removal]:
    """What is kept of each kind, where there is anything; `Removal.what` is the kind's name."""
    found: list[Removal] = []
    for kind in KINDS:
        paths = [root / name for name in kind.places]
        noted = [Path(place) for name, place in _noted(root) if name == kind.name]
        paths += [each for place in noted for each in _ours(kind, place)]
        once = {path.resolve(): path for path in paths if _holds_anything(path)}
        there = tuple(once.values())
        if there:
            found.append(Removal(kind.name, there, kind.about))
    return found


def not_ours(root: Path) -> list[Path]:
    """What lies in the cache and no kind names: not this program's, and left alone."""
    known = {name for kind in KINDS for name in kind.places} | {PLACES}
    try:
        return sorted(path for path in root.iterdir() if path.name not in known)
    except OSError:
        return []


def forget_places(root: Path) -> None:
    """Drop noted places that are not there any more; the note itself when none is left."""
    left = [list(each) for each in _noted(root) if Path(each[1]).exists()]
    with suppress(OSError):
        if left:
            _note(root, left)
        else:
            (root / PLACES).unlink(missing_ok=True)


def _ours(kind: KeptKind, place: Path) -> list[Path]:
    """What of a noted place is this program's: of a folder of records the records, whatever else
    somebody keeps in it."""
    if kind.name != RECORDS:
        return [place]
    return sorted(path.parent for path in place.glob(f"*/{SESSION}"))


def _holds_anything(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            return any(path.iterdir())
        return True
    return path.exists() or path.is_symlink()


def _note(root: Path, noted: list[list[str]]) -> None:
    write_whole(root / PLACES, json.dumps(noted, indent=1) + "\n")


def _noted(root: Path) -> Iterator[tuple[str, str]]:
    try:
        read: object = json.loads((root / PLACES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for each in read if is_list(read) else ():
        match each:
            case [str(kind), str(place)]:
                yield kind, place
            case _:
                pass
