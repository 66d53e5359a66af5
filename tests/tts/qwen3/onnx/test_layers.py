"""Causal layers as graphs: against the same sums in numpy, in any split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.onnx.layers import StepBuilder

WIDTH = 6
RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, WIDTH), np.float32)
Make = Callable[[StepBuilder, str], str]


def run(folder: Path, make: Make, sizes: list[int] = [12], **state: np.ndarray) -> np.ndarray:  # noqa: B006
    """What a graph of one layer makes of X, in calls of so many steps."""
    with GraphBuilder(folder, "layer") as graph:
        builder = StepBuilder(graph, {})  # type: ignore[arg-type]
        steps = graph.input("steps", np.float32, ("n", WIDTH))
        out = make(builder, steps)
        graph.output("out", out, np.float32, ("m", "width"))
        graph.save({})
    session = onnx_session(folder / "layer.onnx")
    names = [value.name for value in session.get_outputs()]
    parts, at = [], 0
    for size in sizes:
        feed = {"steps": X[at : at + size], **{f"state.{k}": v for k, v in state.items()}}
        made = dict(zip(names, session.run(None, feed), strict=True))
        state = {name: made[f"next.{name}"] for name in state}
        parts.append(made["out"])
        at += size
    return np.concatenate(parts)


def test_a_linear_layer(tmp_path: Path) -> None:
    matrix, bias = RNG.standard_normal((WIDTH, 3)), RNG.standard_normal(3)
    made = run(tmp_path, lambda builder, steps: builder.linear(steps, matrix, bias))
    np.testing.assert_allclose(made, X @ matrix + bias, atol=1e-5)
    made = run(tmp_path, lambda builder, steps: builder.linear(steps, matrix))
    np.testing.assert_allclose(made, X @ matrix, atol=1e-5)


def test_a_norm_has_no_weights_of_its_own(tmp_path: Path) -> None:
    made = run(tmp_path, lambda builder, steps: builder.layer_norm(steps, WIDTH, 1e-6))
    expected = (X - X.mean(axis=1, keepdims=True)) / np.sqrt(X.var(axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(made, expected, atol=1e-5)


@pytest.mark.parametrize("sizes", [[12], [1] * 12, [5, 7]])
@pytest.mark.parametrize("dilation", [1, 2])
def test_a_causal_convolution_in_any_split(sizes: list[int], dilation: int, tmp_path: Path) -> None:
    weight, bias, history = RNG.standard_normal((4, WIDTH, 3)), RNG.standard_normal(4), 2 * dilation

    def layer(builder: StepBuilder, steps: str) -> str:
        padded = builder.with_history("c", steps, history, WIDTH)
        return builder.conv(padded, weight, bias, dilation=dilation)

    made = run(tmp_path, layer, sizes, c=np.zeros((history, WIDTH), np.float32))
    padded = np.concatenate([np.zeros((history, WIDTH)), X])
    expected = sum(
        padded[tap * dilation : tap * dilation + 12] @ weight[:, :, tap].T for tap in range(3)
    )
    np.testing.assert_allclose(made, expected + bias, atol=1e-4)


def test_taps_stand_beside_each_other_oldest_first(tmp_path: Path) -> None:
    def layer(builder: StepBuilder, steps: str) -> str:
        return builder.taps(builder.with_history("t", steps, 2, WIDTH), 3)

    made = run(tmp_path, layer, [4, 8], t=np.zeros((2, WIDTH), np.float32))
    padded = np.concatenate([np.zeros((2, WIDTH), np.float32), X])
    expected = np.concatenate([padded[:12], padded[1:13], padded[2:]], axis=1)
    np.testing.assert_array_equal(made, expected)
