"""Text in whatever encoding an editor or shell wrote it."""

from __future__ import annotations

import pytest

from s2s.system.encoding import EncodingError, decode, decode_typed

TEXT = "voice: Zoë\nprice: 5 €\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_is_read_with_and_without_a_mark(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)) == TEXT
    assert decode_typed(TEXT.encode(encoding)) == TEXT


def test_what_is_no_unicode_says_which_byte_and_where() -> None:
    with pytest.raises(EncodingError, match="is not UTF-8 text: byte 0xeb in line 2"):
        decode("a\nZoë".encode("latin-1"))


def test_what_is_typed_never_fails() -> None:
    assert decode_typed("Zoë".encode("latin-1")).startswith("Zo")


def test_nothing_is_no_text() -> None:
    assert decode(b"") == ""
