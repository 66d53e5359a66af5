"""An address as a picture of half blocks."""

from __future__ import annotations

from s2s.transport.server.qr import QUIET, drawn, qr_text


def test_two_rows_of_modules_are_one_line():
    lines = drawn([[True, False], [False, True]]).split("\n")
    assert len(lines) == 1 + QUIET
    assert {len(line) for line in lines} == {2 + 2 * QUIET}
    assert lines[0] == "█" * (2 + 2 * QUIET)
    assert lines[1] == "██▄▀██"


def test_the_code_can_be_read():
    """The modules are those of the library, whatever lines they are drawn in."""
    import segno

    address = "https://192.168.1.20:8765/#key=abcdefghijklmnop"
    text = qr_text(address)
    assert text is not None
    rows: list[list[bool]] = []
    for line in text.split("\n"):
        rows.append([sign not in "█▀" for sign in line])
        rows.append([sign not in "█▄" for sign in line])
    matrix = segno.make(address, micro=False, error="l").matrix
    inner = [row[QUIET : QUIET + len(matrix)] for row in rows[QUIET : QUIET + len(matrix)]]
    assert inner == [[bool(module) for module in row] for row in matrix]
