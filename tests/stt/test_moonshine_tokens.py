"""Moonshine's tokens: their file, what they spell, and how a text is spelled."""

from __future__ import annotations

import pytest

from s2s.models.store import Store
from s2s.stt.base import SttError
from s2s.stt.moonshine_tokens import Speller, detokenize, read_pieces


def test_pieces_are_read_by_their_lengths() -> None:
    long = b"x" * 200
    data = b"\x05<unk>\x02ab" + bytes([200 % 128 + 128, 200 // 128]) + long
    assert read_pieces(data) == [b"<unk>", b"ab", long]


def test_a_cut_tokenizer_file_is_refused() -> None:
    with pytest.raises(SttError, match="inside piece 1"):
        read_pieces(b"\x01a\x05ab")


def test_text_of_tokens() -> None:
    pieces = [b"<s>", "▁He".encode(), b"llo", b"<0xC3>", b"<0xA9>", b"<<ST_1>>", b"<"]
    assert detokenize([0, 1, 2, 3, 4, 5, 6, 99], pieces) == "Helloé<"


def test_a_text_is_spelled_with_the_pieces_learnt_first() -> None:
    single = [bytes([byte]) for byte in range(256)]
    pieces = [b"<unk>", b"<s>", b"</s>", *single]
    pieces += [b"ab", "▁a".encode(), "▁ab".encode(), "▁".encode(), b"a", b"b", b"."]
    speller = Speller(pieces)
    assert [pieces[token] for token in speller.tokens("ab ab.")] == [
        "▁ab".encode(), "▁ab".encode(), b"."
    ]  # fmt: skip
    assert [pieces[token] for token in speller.tokens("é")][-2:] == [b"\xc3", b"\xa9"]


@pytest.mark.models
@pytest.mark.parametrize(
    "text", ["And Mr. John Dashwood had then leisure.", "It's 10 o'clock, isn't it?", "naïve café"]
)
def test_what_is_spelled_reads_the_same(text: str) -> None:
    pieces = read_pieces(Store().path("moonshine-tiny-en/tokenizer.bin").read_bytes())
    tokens = Speller(pieces).tokens(text)
    assert detokenize(tokens, pieces) == text
    assert len(tokens) < len(text)
