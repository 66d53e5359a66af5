"""G.711: speech in one byte a sample at 8 kHz, as telephones send it (mu-law and A-law).

Tables made from the definitions in ITU-T G.711 (2.1 and table 2): decoding is a look-up, encoding a
look-up by the sample's 16 bits.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

Law = Literal["mu", "a"]

_MU_BIAS = 33
"""Added to 14-bit magnitudes, so that every segment begins at a power of two."""


@cache
def decoding(law: Law) -> npt.NDArray[np.int16]:
    """int16 [256]: the sample of each byte."""
    codes = np.arange(256)
    if law == "mu":
        inverted = ~codes & 0xFF
        exponent, mantissa = inverted >> 4 & 7, inverted & 15
        magnitude = ((2 * mantissa + _MU_BIAS) << exponent) - _MU_BIAS
        signed = np.where(inverted & 0x80, -magnitude, magnitude)
        return (signed * 4).astype(np.int16)
    even = codes ^ 0x55
    exponent, mantissa = even >> 4 & 7, even & 15
    first = 2 * mantissa + 1
    magnitude = np.where(exponent == 0, first, (first + 32) << np.maximum(exponent - 1, 0))
    return (np.where(even & 0x80, magnitude, -magnitude) * 8).astype(np.int16)


@cache
def encoding(law: Law) -> npt.NDArray[np.uint8]:
    """uint8 [65536]: the byte of each sample, by its bits as an unsigned number."""
    samples = np.arange(65536).astype(np.uint16).view(np.int16).astype(np.int32)
    return _mu_bytes(samples) if law == "mu" else _a_bytes(samples)


def _mu_bytes(samples: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    negative = samples < 0
    shifted = samples >> 2
    magnitude = np.minimum(np.where(negative, -shifted, shifted), 8158) + _MU_BIAS
    exponent = np.floor(np.log2(magnitude)).astype(np.int32) - 5
    mantissa = magnitude >> (exponent + 1) & 15
    code = exponent << 4 | mantissa
    return (~np.where(negative, code | 0x80, code) & 0xFF).astype(np.uint8)


def _a_bytes(samples: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    negative = samples < 0
    shifted = samples >> 3
    magnitude = np.where(negative, -shifted - 1, shifted)
    exponent = np.maximum(np.floor(np.log2(np.maximum(magnitude, 1))).astype(np.int32) - 4, 0)
    mantissa = magnitude >> np.maximum(exponent, 1) & 15
    code = exponent << 4 | mantissa
    return ((np.where(negative, code, code | 0x80)) ^ 0x55).astype(np.uint8)
