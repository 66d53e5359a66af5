"""Frames as binary messages: what is packed comes out, and nothing else does."""

from __future__ import annotations

import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.codec_stream.framing import (
    HEADERS,
    MOST_FRAMES,
    Flag,
    FrameMessage,
    WireError,
    pack,
    unpack,
    valid_frames,
)

VERSIONS = st.sampled_from(sorted(HEADERS))


@st.composite
def messages(draw: st.DrawFn, codebooks: int = 3) -> FrameMessage:
    frames = draw(st.integers(0, 5))
    rows = st.lists(st.integers(-0x8000, 0x7FFF), min_size=codebooks, max_size=codebooks)
    codes = draw(st.lists(rows, min_size=frames, max_size=frames))
    return FrameMessage(
        draw(st.integers(0, 2**32 - 1)),
        Flag(draw(st.integers(0, 15))),
        np.array(codes, np.int64).reshape(frames, codebooks),
        draw(st.integers(0, 2**16 - 1)),
    )


@given(messages(), VERSIONS)
def test_what_is_packed_comes_out(message: FrameMessage, version: int) -> None:
    found = unpack(pack(message, version), version, 3)
    assert (found.seq, found.flags) == (message.seq, message.flags)
    assert found.epoch == (message.epoch if version > 1 else 0)
    assert found.codes.dtype == np.int64
    assert found.codes.tolist() == message.codes.tolist()


@given(st.binary(max_size=64), VERSIONS, st.integers(1, 4))
def test_any_bytes_are_a_message_or_refused(data: bytes, version: int, codebooks: int) -> None:
    with suppress(WireError):
        assert pack(unpack(data, version, codebooks), version) == data


@given(messages(), VERSIONS, st.integers(1, 40))
def test_a_message_that_was_cut_off_or_grew_is_refused(
    message: FrameMessage, version: int, by: int
) -> None:
    data = pack(message, version)
    for wrong in (data[: max(0, len(data) - by)], data + b"\0" * by):
        with pytest.raises(WireError):
            unpack(wrong, version, 3)


def test_the_bytes_are_those_of_the_prototype() -> None:
    codes = np.array([[1, 2], [3, 0x1FF]])
    data = pack(FrameMessage(7, Flag.EOS | Flag.SEGMENT_END, codes), 1)
    assert data == bytes.fromhex("07000000 0200 03 0100 0200 0300 ff01".replace(" ", ""))


def test_a_longer_message_than_any_is_refused() -> None:
    many = np.zeros((MOST_FRAMES + 1, 1), np.int64)
    with pytest.raises(ValueError, match="513 frames in one message"):
        pack(FrameMessage(0, Flag(0), many), 1)
    data = struct.pack("<IHB", 0, len(many), 0) + b"\0\0" * len(many)
    with pytest.raises(WireError, match="513 frames"):
        unpack(data, 1, 1)


def test_unknown_flags_and_wide_codes_are_refused() -> None:
    with pytest.raises(WireError, match="flags 0x20"):
        unpack(struct.pack("<IHB", 0, 0, 32), 1, 16)
    with pytest.raises(ValueError, match="do not fit 16 bits"):
        pack(FrameMessage(0, Flag(0), np.array([[0x8000]])), 1)


@given(st.lists(st.lists(st.integers(-3, 9), min_size=2, max_size=2), max_size=9), st.booleans())
def test_only_what_can_be_decoded_is_kept(rows: list[list[int]], zeros: bool) -> None:
    codes = np.array(rows, np.int64).reshape(len(rows), 2)
    kept = [row for row in rows if all(0 <= code < 5 for code in row) and (zeros or any(row))]
    assert valid_frames(codes, 5, zeros=zeros).tolist() == kept
