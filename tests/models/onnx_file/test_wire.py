"""Fields of a message, in and out, whatever numbers and bytes are in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.models.onnx_file.wire import (
    OnnxFileError,
    as_bytes,
    as_int,
    as_text,
    bytes_field,
    fields,
    float_field,
    int_field,
    numbers,
    text_field,
)

KINDS = st.integers(1, 2**28)


@given(KINDS, st.integers(-(2**63), 2**63 - 1))
def test_any_whole_number_is_read_back(kind: int, value: int) -> None:
    ((number, _, read),) = fields(memoryview(int_field(kind, value)))
    assert (number, as_int(read)) == (kind, value)


@given(st.lists(st.tuples(KINDS, st.binary(max_size=300)), max_size=4))
def test_any_bytes_are_read_back_in_order(values: list[tuple[int, bytes]]) -> None:
    message = b"".join(bytes_field(kind, value) for kind, value in values)
    read = [(number, bytes(as_bytes(value))) for number, _, value in fields(memoryview(message))]
    assert read == values


@given(st.text(max_size=20))
def test_text_is_read_back(text: str) -> None:
    ((_, _, value),) = fields(memoryview(text_field(3, text)))
    assert as_text(value) == text


def test_lists_of_numbers_are_read_packed_or_not() -> None:
    packed = memoryview(np.array([1.5, -2.0], "<f4").tobytes())
    assert list(numbers(4, 2, packed)) == [1.5, -2.0]
    assert list(numbers(7, 2, memoryview(b"\x05" + b"\xff" * 9 + b"\x01"))) == [5, -1]
    assert list(numbers(7, 0, 2**64 - 3)) == [-3]
    ((_, wire, value),) = fields(memoryview(float_field(4, 0.5)))
    assert list(numbers(4, wire, value)) == [0.5]
    with pytest.raises(OnnxFileError, match="fixed width"):
        list(numbers(7, 1, memoryview(b"12345678")))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x0a\x05ab", "5 bytes wanted, 2 left"),
        (b"\x08", "ends inside a number"),
        (b"\x08" + b"\xff" * 11, "more than ten bytes"),
        (b"\x0b", "wire type 3 at byte 1"),
        (b"\x0d\x00", "4 bytes wanted, 1 left"),
    ],
)
def test_what_is_cut_or_no_message_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(OnnxFileError, match=reason):
        list(fields(memoryview(data)))


def test_a_field_of_another_kind_is_refused() -> None:
    with pytest.raises(OnnxFileError, match="bytes where a number"):
        as_int(memoryview(b"x"))
    with pytest.raises(OnnxFileError, match="a number where bytes"):
        as_bytes(3)
    with pytest.raises(OnnxFileError, match="not text"):
        as_text(memoryview(b"\xff"))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        for number, _, value in fields(memoryview(data)):
            assert number >= 0
            assert isinstance(value, int | memoryview)
    except OnnxFileError:
        pass
