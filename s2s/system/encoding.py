"""Text from bytes, whatever editor or shell wrote them. Knows nothing about what the text means."""

from __future__ import annotations

import codecs
import locale

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 400
"""Bytes that tell UTF-16 without a mark: in mostly ASCII text each second one is zero."""


class EncodingError(ValueError):
    """Bytes that are no text. The message says which byte, in which line, and what to do."""


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 (what `>` writes in Windows PowerShell 5) or UTF-32.

    Raises:
        EncodingError: it is none of them.
    """
    encoding = _encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise EncodingError(
            f"is not {encoding.upper().removesuffix('-SIG')} text: byte 0x{data[error.start]:02x} "
            f"in line {line}. Save it as UTF-8"
        ) from error


def decode_typed(data: bytes) -> str:
    """What a person or program sent to the standard input. Never fails: what is not Unicode is
    read as the system's own encoding, and bytes that this lacks are replaced."""
    try:
        return decode(data)
    except EncodingError:
        return data.decode(locale.getpreferredencoding(False), errors="replace")


def _encoding(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    even, odd = data[:_LOOKED_AT:2], data[1:_LOOKED_AT:2]
    if odd.count(0) * 2 > len(odd):
        return "utf-16-le"
    if even.count(0) * 2 > len(even):
        return "utf-16-be"
    return "utf-8"
