"""Cuts a long text into segments a model speaks well: pure.

Qwen3-TTS loses its pace in long texts (QwenLM/Qwen3-TTS #239, #290) and degenerates after minutes,
so what is longer than a segment is spoken one segment after the other.
"""

from __future__ import annotations

from s2s.tts.pieces import pieces

MAX_CHARS = 300
"""About 20 s of speech: sentences stay together, and no segment is long enough to lose its pace."""


def segments(text: str, max_chars: int = MAX_CHARS) -> list[str]:
    """The text in pieces of at most ``max_chars``, cut where a sentence ends if it can be, else at
    a comma, else between words, else anywhere. Pieces of which nothing is heard are left out."""
    found = pieces(text, max_chars, join=True)
    return [piece for piece, _ in found if any(map(str.isalnum, piece))]
