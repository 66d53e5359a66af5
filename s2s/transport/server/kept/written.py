"""A conversation as bytes: JSON, compressed, never longer than a place takes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

from s2s.core.untyped import is_list, is_object

MOST_BYTES = 1 << 20
"""Of one conversation, compressed. Of a longer one the oldest items are left out."""
MOST_READ_BYTES = 64 << 20
"""Of one, unpacked: what is longer is none of ours."""
LEVEL = 1
"""Texts become a third of their length in a tenth of a millisecond for each 10 kB."""


class TooLong(ValueError):
    """A conversation that does not fit even without its items."""


def to_bytes(conversation: Mapping[str, object], most_bytes: int = MOST_BYTES) -> bytes:
    """The conversation; where it is too long without its oldest items, which are in `entries`.

    Raises:
        TooLong: what is left is still too long.
    """
    entries = conversation.get("entries")
    left = list(entries) if is_list(entries) else []
    while True:
        text = json.dumps({**conversation, "entries": left}, separators=(",", ":"))
        packed = zlib.compress(text.encode(), LEVEL)
        if len(packed) <= most_bytes:
            return packed
        if not left:
            raise TooLong(
                f"a conversation of {len(packed)} bytes without its items, {most_bytes} may be kept"
            )
        left = left[(len(left) + 1) // 2 :]


def from_bytes(packed: bytes) -> dict[str, object] | None:
    """What `to_bytes` made; None: it is damaged, or something else."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(packed, MOST_READ_BYTES)
        value: object = json.loads(text) if unpacking.eof else None
    except (zlib.error, ValueError):
        return None
    return value if is_object(value) else None
