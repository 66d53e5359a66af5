"""The quicker forms of the text encoder give what the exported form gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.models.onnx_file import OnnxFile, read_model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.graph.attention import narrow_attention
from s2s.tts.vits.graph.masks import drop_masks
from s2s.tts.vits.parts import cut_voice
from tests.support.vits import VOICES

ENCODER = cut_voice(read_model(VOICES / "speakers.onnx"), "before_flow").encoder
PLAIN = onnx_session(write_model(ENCODER))
NARROW = narrow_attention(ENCODER)
QUICK = drop_masks(NARROW)


def count(model: OnnxFile, op: str) -> int:
    return sum(node.op == op for node in model.nodes)


def spoken(session, ids: list[int]) -> list[np.ndarray]:
    feed = {
        "ids": np.array([ids]),
        "lengths": np.array([len(ids)]),
        "scales": np.array([0.6, 1.0, 0.8], np.float32),
        "speaker": np.array([1]),
        "duration_noise": np.random.default_rng(0).standard_normal((1, 2, len(ids)), np.float32),
    }
    names = {value.name for value in session.get_inputs()}
    return session.run(None, {k: v for k, v in feed.items() if k in names})


@pytest.mark.parametrize("model", [NARROW, QUICK], ids=["narrow", "quick"])
@settings(max_examples=30)
@given(ids=st.lists(st.integers(0, 63), min_size=1, max_size=40))
def test_every_length_gives_the_same(model: OnnxFile, ids: list[int]) -> None:
    session = onnx_session(write_model(model))
    for one, other in zip(spoken(PLAIN, ids), spoken(session, ids), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)


def test_the_wide_products_are_gone() -> None:
    assert count(ENCODER, "Pad") == 6
    assert count(NARROW, "Pad") == 2
    assert count(NARROW, "MatMul") == count(ENCODER, "MatMul")


def test_the_masks_are_gone() -> None:
    assert count(NARROW, "Where") == 1
    assert count(QUICK, "Where") == 0
    assert count(QUICK, "Equal") == count(QUICK, "Less") == 0
    assert "lengths" not in [value.name for value in QUICK.inputs]


def test_what_has_neither_stays_as_it_is() -> None:
    decoder = cut_voice(read_model(VOICES / "plain.onnx"), "latent").decoder
    assert narrow_attention(decoder) is decoder
    assert len(drop_masks(decoder).nodes) == len(decoder.nodes)
