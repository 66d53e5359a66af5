"""Packed models that were not written by anybody who means well: with checksums that are right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from s2s.tts.qwen3.native.packed_file import checksum

_HEADER, _ENTRY, _NAME = 64, 64, 40
_WEIGHTS = 4096
"""Bytes above which a section is of weights, not of numbers that say what is computed."""


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    at: int
    name: str
    offset: int
    size: int


def entries(content: bytes | bytearray) -> list[Entry]:
    """The table of contents."""
    found: list[Entry] = []
    for index in range(int.from_bytes(content[12:16], "little")):
        at = _HEADER + index * _ENTRY
        name = bytes(content[at : at + _NAME]).rstrip(b"\0").decode()
        offset, size = (
            int.from_bytes(content[at + _NAME + 8 * word :][:8], "little") for word in (0, 1)
        )
        found.append(Entry(at, name, offset, size))
    return found


def sealed(content: bytearray) -> bytes:
    """With checksums that fit what stands there now, where a section lies inside the file."""
    for entry in entries(content):
        part = bytes(content[entry.offset : entry.offset + entry.size])
        if len(part) == entry.size:
            _put(content, entry.at + _NAME + 16, _sum(part))
    count = int.from_bytes(content[12:16], "little")
    _put(content, 24, _sum(bytes(content[_HEADER : _HEADER + count * _ENTRY])))
    _put(content, 16, len(content))
    return bytes(content)


def damaged(content: bytes, data: st.DataObject) -> bytes:
    """Cut off, or with a few numbers of the table or of small sections replaced."""
    changed = bytearray(content)
    if data.draw(st.integers(0, 4)) == 0:
        return sealed_if_whole(changed[: data.draw(st.integers(0, len(content)))])
    for _ in range(data.draw(st.integers(1, 3))):
        entry = data.draw(st.sampled_from(entries(content)))
        value = data.draw(st.sampled_from(VALUES) | st.integers(0, 2**32 - 1))
        if entry.size == 0 or data.draw(st.integers(0, 5)) == 0:
            place = entry.at + data.draw(st.sampled_from([0, _NAME, _NAME + 4, _NAME + 8]))
        else:
            most = min(entry.size, _WEIGHTS) // 4
            place = entry.offset + 4 * data.draw(st.integers(0, max(0, most - 1)))
        width = min(4, len(changed) - place)
        changed[place : place + width] = value.to_bytes(4, "little")[:width]
    return sealed_if_whole(changed)


VALUES = [
    0, 1, 2, 3, 5, 7, 16, 31, 32, 33, 64, 128, 1 << 10, 1 << 15, (1 << 15) + 16, 1 << 17, 1 << 20,
    (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 32) - 16, 0x7F800000, 0x7FC00000, 0x00000001,
    0x7F7FFFFF,
]  # fmt: skip


def sealed_if_whole(content: bytearray) -> bytes:
    """`sealed`, where there is a whole table of contents."""
    count = int.from_bytes(content[12:16], "little") if len(content) >= _HEADER else 1 << 30
    if len(content) < _HEADER + count * _ENTRY:
        return bytes(content)
    try:
        return sealed(content)
    except UnicodeDecodeError:  # a name that is none: only the table is read then
        return bytes(content)


def _sum(part: bytes) -> int:
    return checksum(np.frombuffer(part, np.uint8))


def _put(content: bytearray, at: int, number: int) -> None:
    content[at : at + 8] = number.to_bytes(8, "little")
