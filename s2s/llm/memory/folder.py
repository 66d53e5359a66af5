"""Memory on disk: a folder of Markdown files that a person can read, write and delete.

Each line of a file that is no heading is a note. The assistant writes into one file of its own,
whole or not at all, so that two sessions and a text editor do not lose each other's lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from s2s.system.encoding import decode
from s2s.system.filelock import locked
from s2s.system.whole_file import write_whole

FILE = "remembered.md"
"""What the assistant was asked to remember."""
HEADING = "# What the assistant was asked to remember"
LOCK = ".lock"
LONGEST_CHARS = 500
"""Of one note; what is longer is cut."""
MOST_BYTES = 1_000_000
"""Of a file that is read: it is no notes otherwise."""

_LINE = re.compile(
    r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\[[ xX]\]\s+)?(?:\d{4}-\d{2}-\d{2}:\s*)?(.*\S)?\s*"
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


class MemoryFolderError(RuntimeError):
    """Memory that cannot be read or written. The message says where, and what to do."""


@dataclass(frozen=True, slots=True)
class MemoryNote:
    """One line of memory."""

    text: str
    """Without bullet and date."""
    file: Path
    line: int
    """In its file, from 0."""


class MemoryFolder:
    """The notes of one folder. Safe from any thread, and beside other programs.

    Args:
        folder: where; made when something is remembered.
        today: the date that stands before a note.
    """

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        self.path = folder.expanduser()
        self._today = today

    @property
    def own_file(self) -> Path:
        """The file that the assistant writes."""
        return self.path / FILE

    def notes(self) -> list[MemoryNote]:
        """All notes, the newest first: files by when they were changed, in the assistant's own the
        last line first.

        Raises:
            MemoryFolderError: a file cannot be read.
        """
        found: list[MemoryNote] = []
        for file in self._files():
            notes = [
                MemoryNote(text, file, number)
                for number, line in enumerate(_lines(file))
                if (text := note_text(line))
            ]
            found += notes[::-1] if file.name == FILE else notes
        return found

    def remember(self, text: str) -> bool:
        """Keep `text`; False when it is kept already.

        Raises:
            MemoryFolderError: it cannot be written.
        """
        text = " ".join(text.split())[:LONGEST_CHARS].strip()
        if not text:
            return False
        with self._writing():
            if any(_same(note.text, text) for note in self.notes()):
                return False
            lines = _lines(self.own_file) if self.own_file.is_file() else [HEADING, ""]
            self._write(self.own_file, [*lines, f"- {self._today().isoformat()}: {text}"])
        return True

    def forget(self, gone: Callable[[MemoryNote], bool]) -> list[MemoryNote]:
        """Delete the notes that `gone` says; returns them. A file without notes stays, but the
        assistant's own.

        Raises:
            MemoryFolderError: a file cannot be read or written.
        """
        if not self.path.is_dir():
            return []
        with self._writing():
            lost = [note for note in self.notes() if gone(note)]
            for file in {note.file for note in lost}:
                numbers = {note.line for note in lost if note.file == file}
                left = [line for n, line in enumerate(_lines(file)) if n not in numbers]
                if file.name == FILE and not any(map(note_text, left)):
                    file.unlink(missing_ok=True)
                else:
                    self._write(file, left)
        return lost

    def _files(self) -> list[Path]:
        try:
            files = [path for path in self.path.glob("*.md") if path.is_file()]
            return sorted(files, key=lambda path: (-path.stat().st_mtime_ns, path.name))
        except OSError as error:
            raise MemoryFolderError(f"{self.path} cannot be read: {error}") from error

    @contextmanager
    def _writing(self) -> Generator[None, None, None]:
        """Inside, the folder is there, and no other program of ours writes into it."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.path / LOCK):
                yield
        except OSError as error:
            raise MemoryFolderError(
                f"{self.path} cannot be written ({error}): choose another with memory.folder"
            ) from error

    def _write(self, file: Path, lines: Iterable[str]) -> None:
        """Replace a file, readable by its owner alone where it is new."""
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
        write_whole(file, "\n".join(lines) + "\n", mode=mode, durable=True)


def note_text(line: str) -> str:
    """What a line of Markdown notes: without bullet, box and date; "" for a heading, a rule or an
    empty line."""
    if line.lstrip().startswith(("#", "---", "<!--", "```")):
        return ""
    found = _LINE.fullmatch(line)
    return (found[1] or "") if found else ""


def about(what: str, note: str) -> bool:
    """Whether a note holds all the words of `what`, in any order and with other ends of longer
    words; in Chinese and Japanese its characters."""
    words, said = _WORD.findall(note.casefold()), _WORD.findall(what.casefold())
    wanted = [word for word in said if word not in _SMALL] or said
    return bool(wanted) and all(any(_alike(word, want) for word in words) for want in wanted)


def _alike(word: str, want: str) -> bool:
    if word == want:
        return True
    shorter = min(len(word), len(want))
    return (
        shorter >= 5
        and abs(len(word) - len(want)) <= 2
        and word[: shorter - 1] == want[: shorter - 1]
    )


_SMALL = frozenset(
    re.findall(
        r"\S+",
        """a an the my is are was i am that of to in and
        der die das mein meine ist sind dass le la les mon ma mes est que el los mi mis es
        il lo mio mia è o os meu minha é de het mijn""",
    )
)
"""Words that tell notes apart by nothing, unless nothing else is said."""


def _same(one: str, other: str) -> bool:
    return one.casefold().rstrip(".!") == other.casefold().rstrip(".!")


def _lines(file: Path) -> list[str]:
    """
    Raises:
        MemoryFolderError: the file cannot be read, or is too large for notes.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            raise MemoryFolderError(f"{file} is too large for notes: move it out of the folder")
        return decode(file.read_bytes()).splitlines()
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise MemoryFolderError(f"{file} cannot be read: {error}") from error
