"""Cuts a long text into segments a model speaks well: pure.

Qwen3-TTS loses its pace in long texts (QwenLM/Qwen3-TTS #239, #290) and degenerates after minutes,
so what is longer than a segment is spoken one segment after the other.
"""

from __future__ import annotations

import re

MAX_CHARS = 300

_ENDS = (
    re.compile(r"(?<=[.!?…])\s+|(?<=[。！？\n])"),
    re.compile(r"(?<=[,;:])\s+|(?<=[、，；：])"),
    re.compile(r"\s+"),
)


def segments(text: str, max_chars: int = MAX_CHARS) -> list[str]:
    """The text in pieces of at most ``max_chars``, cut where a sentence ends if it can be, else at
    a comma, else between words, else anywhere. Pieces of which nothing is heard are left out."""
    return [piece for piece in _cut(text.strip(), max_chars, 0) if any(map(str.isalnum, piece))]


def _cut(text: str, max_chars: int, level: int) -> list[str]:
    if len(text) <= max_chars:
        return [text] if text else []
    if level == len(_ENDS):
        return [text[at : at + max_chars] for at in range(0, len(text), max_chars)]
    pieces: list[str] = []
    for part in filter(None, map(str.strip, _ENDS[level].split(text))):
        joined = f"{pieces[-1]} {part}" if pieces else part
        if pieces and len(joined) <= max_chars:
            pieces[-1] = joined
        else:
            pieces += _cut(part, max_chars, level + 1)
    return pieces
