"""Writes the one file that a program in C opens: a table of contents, then sections of numbers.

What stands where: native/speech/packed_file.h, which reads it. Why there is such a file:
docs/decisions/qwen3-c-interface.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from s2s.tts.qwen3.native.kept import Packed
from s2s.tts.qwen3.native.library import INTERFACE

MAGIC, FORMAT = b"s2sqwen3", 1
ALIGNMENT = 64
_HEADER_BYTES, _ENTRY_BYTES, _NAME_BYTES = 64, 64, 40
_PIECE_BYTES = 4 << 20
_WORD_BYTES = 8

Numbers = npt.NDArray[np.generic]
Put = Callable[[Numbers], None]
"""Takes the next values of a section."""


@dataclass(frozen=True, slots=True)
class FileSection:
    """A named part of the file. ``fill`` hands its values over, in pieces; each may be gone when it
    has been taken."""

    name: str
    fill: Callable[[Put], None]

    @classmethod
    def of(cls, name: str, values: Numbers) -> FileSection:
        """Of one array."""
        return cls(name, lambda put: put(values))


def write_packed(path: Path, sections: Sequence[FileSection]) -> None:
    """Write the file, which appears whole or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            _write(file, sections)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def checksum(values: Packed, first_word: int = 0) -> int:
    """Of uint8 [n], the words of which are counted from ``first_word``: see packed_file.h."""
    missing = -len(values) % _WORD_BYTES
    padded = np.pad(values, (0, missing)) if missing else values
    words = np.ascontiguousarray(padded).view("<u8")
    odd = 2 * np.arange(first_word, first_word + len(words), dtype=np.uint64) + np.uint64(1)
    return int(np.sum(words * odd, dtype=np.uint64))


def _write(file: BinaryIO, sections: Sequence[FileSection]) -> None:
    table = b""
    file.seek(_HEADER_BYTES + _ENTRY_BYTES * len(sections))
    for section in sections:
        begin = _aligned(file)
        total = _write_section(file, section)
        numbers = (begin, file.tell() - begin, total)
        table += section.name.encode().ljust(_NAME_BYTES, b"\0") + _words(*numbers)
    size = file.seek(0, os.SEEK_END)
    found = checksum(np.frombuffer(table, np.uint8))
    head = np.array([FORMAT, len(sections)], "<u4").tobytes()
    file.seek(0)
    layout = np.array([INTERFACE], "<u4").tobytes()
    file.write((MAGIC + head + _words(size, found) + layout).ljust(_HEADER_BYTES, b"\0"))
    file.write(table)


def _write_section(file: BinaryIO, section: FileSection) -> int:
    """Returns the checksum."""
    rest, words, total = b"", 0, 0

    def put(values: Numbers) -> None:
        nonlocal rest, words, total
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        for start in range(0, raw.size, _PIECE_BYTES):
            piece = raw[start : start + _PIECE_BYTES]
            file.write(piece.data)
            if rest:
                piece = np.concatenate([np.frombuffer(rest, np.uint8), piece])
            whole = piece.size - piece.size % _WORD_BYTES
            total = (total + checksum(piece[:whole], words)) % (1 << 64)
            words += whole // _WORD_BYTES
            rest = piece[whole:].tobytes()

    section.fill(put)
    return (total + checksum(np.frombuffer(rest, np.uint8), words)) % (1 << 64)


def _aligned(file: BinaryIO) -> int:
    at = file.tell()
    file.write(b"\0" * (-at % ALIGNMENT))
    return file.tell()


def _words(*numbers: int) -> bytes:
    return np.array(numbers, "<u8").tobytes()
