"""Plain operators in place of onnxruntime's own: what they compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.fixed.operators import (
    MASKED,
    gelu,
    part,
    reshape,
    rms_norm,
    rotate,
    side_by_side,
    silu,
)
from tests.tts.qwen3.fixed.plain import check_plain

VALUES = np.random.default_rng(1).standard_normal((3, 8)).astype(np.float32) * 3


def computed(
    folder: Path, build: Callable[[GraphBuilder, str], str], shape: list[int]
) -> np.ndarray:
    with GraphBuilder(folder, "plain") as graph:
        given = graph.input("given", np.float32, VALUES.shape)
        graph.output("found", build(graph, given), np.float32, shape)
        path = graph.save({})
    check_plain(path)
    (found,) = onnx_session(path).run(None, {"given": VALUES})
    return found


def test_activations(tmp_path: Path) -> None:
    np.testing.assert_allclose(
        computed(tmp_path, silu, [3, 8]), VALUES / (1 + np.exp(-VALUES)), atol=1e-6
    )
    normal = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))
    np.testing.assert_allclose(computed(tmp_path, gelu, [3, 8]), normal(VALUES), atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_norm_of_every_row(weighted: bool, tmp_path: Path) -> None:
    weight = np.linspace(0.5, 2, 8, dtype=np.float32)

    def build(graph: GraphBuilder, given: str) -> str:
        return rms_norm(graph, given, 1e-6, graph.weight(weight) if weighted else None)

    expected = VALUES / np.sqrt((VALUES**2).mean(1, keepdims=True) + 1e-6)
    found = computed(tmp_path, build, [3, 8])
    np.testing.assert_allclose(found, expected * weight if weighted else expected, atol=1e-6)


def test_parts_put_together_again_are_the_same(tmp_path: Path) -> None:
    def build(graph: GraphBuilder, given: str) -> str:
        pieces = [part(graph, given, 1, 0, 3), part(graph, given, 1, 3, 8)]
        return reshape(graph, side_by_side(graph, pieces, 1), 4, 6)

    np.testing.assert_array_equal(computed(tmp_path, build, [4, 6]), VALUES.reshape(4, 6))


def test_a_quarter_turn_swaps_the_halves(tmp_path: Path) -> None:
    def build(graph: GraphBuilder, given: str) -> str:
        heads = reshape(graph, given, 3, 2, 4)
        cos, sin = (graph.constant(np.full((3, 1, 2), value, np.float32)) for value in (0, 1))
        return rotate(graph, heads, 2, cos, sin)

    heads = VALUES.reshape(3, 2, 4)
    expected = np.concatenate([-heads[..., 2:], heads[..., :2]], axis=2)
    np.testing.assert_array_equal(computed(tmp_path, build, [3, 2, 4]), expected)


def test_what_is_masked_has_no_weight_in_half_precision_either() -> None:
    assert np.isfinite(np.float16(MASKED))
    assert np.exp(np.float32(MASKED)) == 0
