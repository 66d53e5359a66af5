"""Frames of codes as binary messages: a header, then int16 little-endian [frames, codebooks].

Version 1 has the header "<IHB": number of the message, frames in it, flags. Version 2 adds the
epoch of the answer it belongs to, so that what was under way when an answer was cancelled is known
for what it is (docs/decisions/codes-over-a-socket.md). Pure.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from s2s.core.arrays import Ids

HEADERS = {1: "<IHB", 2: "<IHBH"}
"""Of each version, as `struct` writes them."""
EPOCHS = 1 << 16
"""They are counted on from 0 after the last."""
MOST_FRAMES = 512
"""In one message: 41 s; a longer one is none of ours."""


class WireError(ValueError):
    """A message that cannot be of this protocol, or one that cannot come here. The text says what
    of it, and its value."""


class Flag(IntFlag):
    """What else a message says."""

    EOS = 1
    """Nothing of the answer comes after it; it may hold no frame."""
    SEGMENT_END = 2
    """The decoder's state ends with it."""
    RESET = 4
    """The decoder begins anew with it."""
    PREFIX = 8
    """Its frames are of the recording that a voice is cloned from: heard by the decoder alone."""
    TEXT_LATE = 16
    """The text that comes next has yet to be written: no sound is to be held back meanwhile. In
    answers whose text is fed alone."""


_KNOWN = int(Flag.EOS | Flag.SEGMENT_END | Flag.RESET | Flag.PREFIX | Flag.TEXT_LATE)


@dataclass(frozen=True, slots=True, eq=False)
class FrameMessage:
    """One binary message."""

    seq: int
    """Messages of the same answer before it."""
    flags: Flag
    codes: Ids
    """int64 [frames, codebooks], as they were sent: `valid_frames` says which can be decoded."""
    epoch: int = 0
    """0 in version 1."""


def pack(message: FrameMessage, version: int) -> bytes:
    """The message as it is sent.

    Raises ValueError for codes that do not fit 16 bits, or too many frames.
    """
    codes = message.codes
    if len(codes) > MOST_FRAMES:
        raise ValueError(f"{len(codes)} frames in one message; at most {MOST_FRAMES}")
    if codes.size and not -0x8000 <= codes.min() <= codes.max() <= 0x7FFF:
        raise ValueError(f"codes from {codes.min()} to {codes.max()} do not fit 16 bits")
    fields = [message.seq, len(codes), int(message.flags)]
    if version > 1:
        fields.append(message.epoch)
    return struct.pack(HEADERS[version], *fields) + codes.astype("<i2").tobytes()


def unpack(data: bytes, version: int, codebooks: int) -> FrameMessage:
    """What was sent. Raises WireError for anything that `pack` cannot have made."""
    header = HEADERS[version]
    size = struct.calcsize(header)
    if len(data) < size:
        raise WireError(f"a binary message of {len(data)} bytes; its header alone has {size}")
    seq, frames, flags, *rest = struct.unpack_from(header, data)
    if flags & ~_KNOWN:
        raise WireError(f"flags {flags:#04x} of a binary message; known are {_KNOWN:#04x}")
    if frames > MOST_FRAMES:
        raise WireError(f"{frames} frames in one binary message; at most {MOST_FRAMES}")
    if len(data) - size != 2 * frames * codebooks:
        raise WireError(
            f"a binary message of {frames} frames of {codebooks} codes holds "
            f"{len(data) - size} bytes of them, not {2 * frames * codebooks}"
        )
    codes = np.frombuffer(data, "<i2", offset=size).reshape(frames, codebooks)
    return FrameMessage(seq, Flag(flags), codes.astype(np.int64), rest[0] if rest else 0)


def valid_frames(codes: Ids, codebook_size: int, *, zeros: bool) -> Ids:
    """The frames that can be decoded: int64 [n, codebooks] of those in ``codes``.

    zeros: a frame of nothing but code 0 is one; vLLM-Omni pads with such rows, and never says one.
    """
    good = ((codes >= 0) & (codes < codebook_size)).all(axis=1)
    if not zeros:
        good &= codes.any(axis=1)
    return codes[good]
