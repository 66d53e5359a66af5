"""G.711, sample by sample, against the standard library's implementation."""

from __future__ import annotations

import importlib
import sys
import warnings

import numpy as np
import pytest

from s2s.transport.realtime.g711 import decoding, encoding


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="audioop left the standard library")
@pytest.mark.parametrize("law", ["mu", "a"])
def test_g711_is_what_another_implementation_makes_of_every_sample(law):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        audioop = importlib.import_module("audioop")
    encode, decode = (
        (audioop.lin2ulaw, audioop.ulaw2lin)
        if law == "mu"
        else (audioop.lin2alaw, audioop.alaw2lin)
    )
    samples = np.arange(-32768, 32768).astype("<i2")
    want = np.frombuffer(encode(samples.tobytes(), 2), np.uint8)
    np.testing.assert_array_equal(encoding(law)[samples.view(np.uint16)], want)
    want = np.frombuffer(decode(bytes(range(256)), 2), "<i2")
    np.testing.assert_array_equal(decoding(law), want)


@pytest.mark.parametrize("law", ["mu", "a"])
def test_what_was_decoded_is_encoded_to_the_same_sound(law):
    samples = decoding(law)
    again = decoding(law)[encoding(law)[samples.view(np.uint16)]]
    np.testing.assert_array_equal(again, samples)
