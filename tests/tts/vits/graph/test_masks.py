"""An encoder without its masks gives what it gave with them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.models.onnx_file import (
    FLOAT,
    INT64,
    Node,
    OnnxFile,
    ValueInfo,
    int_attribute,
    read_model,
    tensor,
    write_model,
)
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


@settings(max_examples=30)
@given(ids=st.lists(st.integers(0, 63), min_size=1, max_size=40))
def test_every_length_gives_the_same(ids: list[int]) -> None:
    session = onnx_session(write_model(QUICK))
    for one, other in zip(spoken(PLAIN, ids), spoken(session, ids), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)


def test_the_masks_are_gone() -> None:
    assert count(NARROW, "Where") == 1
    assert count(QUICK, "Where") == 0
    assert count(QUICK, "Equal") == count(QUICK, "Less") == 0
    assert "lengths" not in [value.name for value in QUICK.inputs]


def test_a_graph_without_masks_stays_as_it_is() -> None:
    decoder = cut_voice(read_model(VOICES / "plain.onnx"), "latent").decoder
    assert len(drop_masks(decoder).nodes) == len(decoder.nodes)


def test_products_and_choices_by_ones_pass_on_what_they_took() -> None:
    """mask = i < lengths; y = where(mask == 0, -1, x * mask)."""
    nodes = [
        Node("Less", ("i", "lengths"), ("mask",)),
        Node("Cast", ("mask",), ("ones",), attributes=(int_attribute("to", FLOAT),)),
        Node("Mul", ("x", "ones"), ("masked",)),
        Node("Equal", ("ones", "zero"), ("padding",)),
        Node("Where", ("padding", "minus", "masked"), ("y",)),
    ]
    weights = {
        "i": tensor("i", np.arange(3)),
        "zero": tensor("zero", np.zeros(1, np.float32)),
        "minus": tensor("minus", -np.ones(1, np.float32)),
    }
    x, lengths = ValueInfo("x", FLOAT, (3,)), ValueInfo("lengths", INT64, (1,))
    left = drop_masks(OnnxFile(nodes, weights, [x, lengths], [ValueInfo("y", FLOAT, (3,))]))
    assert [value.name for value in left.inputs] == ["x"]
    assert [node.op for node in left.nodes] == ["Identity"]
    assert left.nodes[0].inputs == ("x",)
