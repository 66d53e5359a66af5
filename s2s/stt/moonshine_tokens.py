"""Moonshine's tokens and what they spell: byte-level BPE with the pieces of Llama 2."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from s2s.stt.base import SttError

_SPACE = "▁"
_BYTES = range(3, 259)
"""Ids of the 256 single bytes, for what no piece spells."""


def read_pieces(data: bytes) -> list[bytes]:
    """Read tokenizer.bin: pieces in order of their ids, each after its length.

    A length below 128 is one byte; else it is `byte - 128 + 128 * next byte`.

    Raises:
        SttError: the file ends inside a piece.
    """
    pieces: list[bytes] = []
    position = 0
    while position < len(data):
        length = data[position]
        position += 1
        if length >= 128 and position < len(data):
            length += 128 * data[position] - 128
            position += 1
        if position + length > len(data):
            raise SttError(
                f"moonshine: the tokenizer file ends inside piece {len(pieces)}. Fetch it again."
            )
        pieces.append(data[position : position + length])
        position += length
    return pieces


def detokenize(tokens: Sequence[int], pieces: Sequence[bytes]) -> str:
    """The text of `tokens`. Unknown ids and control pieces (`<s>`, `<<ST_1>>`) say nothing."""
    out = bytearray()
    for token in tokens:
        piece = pieces[token] if 0 <= token < len(pieces) else b""
        if piece.startswith(b"<0x") and piece.endswith(b">"):
            out.append(int(piece[3:-1], 16))
        elif not (piece.startswith(b"<") and piece.endswith(b">") and len(piece) > 2):
            out += piece
    return out.decode("utf-8", errors="ignore").replace(_SPACE, " ").strip()


class Speller:
    """Text to tokens, as the model was trained to write it."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._ids = {piece: index for index, piece in enumerate(pieces) if index not in _BYTES}
        self._bytes = {pieces[index]: index for index in _BYTES if index < len(pieces)}

    def tokens(self, text: str) -> list[int]:
        """The tokens of `text`: of two neighbours that make a piece, the piece learnt first is
        made first, which is the one of the lowest id. What cannot be spelled is left out."""
        parts = [sign.encode() for sign in _SPACE + text.strip().replace(" ", _SPACE)]
        while len(parts) > 1:
            ranks = [self._ids.get(one + two) for one, two in pairwise(parts)]
            known = [(rank, index) for index, rank in enumerate(ranks) if rank is not None]
            if not known:
                break
            _, index = min(known)
            parts[index : index + 2] = [parts[index] + parts[index + 1]]
        return [token for part in parts for token in self._spelled(part)]

    def _spelled(self, part: bytes) -> list[int]:
        if part in self._ids:
            return [self._ids[part]]
        single = [bytes([byte]) for byte in part]
        return [self._bytes[byte] for byte in single if byte in self._bytes]
