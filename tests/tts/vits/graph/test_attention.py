"""Attention in its narrow form gives what the exported form gives, for every length."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.models.onnx_file import OnnxFile, read_model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.graph.attention import narrow_attention
from s2s.tts.vits.parts import cut_voice
from tests.support.vits import VOICES
from tests.tts.vits.graph.test_masks import PLAIN, spoken

ENCODER = cut_voice(read_model(VOICES / "speakers.onnx"), "before_flow").encoder


NARROW = narrow_attention(ENCODER)


def count(model: OnnxFile, op: str) -> int:
    return sum(node.op == op for node in model.nodes)


def test_the_wide_products_are_gone() -> None:
    assert count(ENCODER, "Pad") == 6
    assert count(NARROW, "Pad") == 2
    assert count(NARROW, "MatMul") == count(ENCODER, "MatMul")


def test_what_has_none_stays_as_it_is() -> None:
    decoder = cut_voice(read_model(VOICES / "plain.onnx"), "latent").decoder
    assert narrow_attention(decoder) is decoder


@settings(max_examples=30)
@given(ids=st.lists(st.integers(0, 63), min_size=1, max_size=40))
def test_every_length_gives_the_same(ids: list[int]) -> None:
    session = onnx_session(write_model(NARROW))
    for one, other in zip(spoken(PLAIN, ids), spoken(session, ids), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)
