"""Products in 16 and 8 bits, and products that are watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.fixed.operators import FixedMatrices, MakeMatrices
from s2s.tts.qwen3.fixed.quantised import (
    ROOM,
    QuantisedMatrices,
    WatchedMatrices,
    product_of_output,
    quantised_rows,
    scale_and_zero,
)
from s2s.tts.qwen3.fixed.ranges import ProductRange, ValueRange, product_name
from s2s.tts.qwen3.fixed.weights import FIXED_A16W8, FIXED_MIXES
from s2s.tts.qwen3.onnx.transformer import Job, Rows

FLOATS = st.floats(-1e6, 1e6, width=32)
PARTS = tuple(
    Rows(f"talker.model.layers.0.self_attn.{name}_proj.weight", 0, 32) for name in ("q", "k")
)


@pytest.fixture
def job(tiny_qwen3: Callable[[str], Path], tmp_path: Path) -> Job:
    source = tiny_qwen3("0.6b-base")
    spec = read_spec(source)
    return Job(spec, open_checkpoint(source, spec), FIXED_MIXES[FIXED_A16W8], tmp_path, {})


def exactly(job: Job, values: np.ndarray, times: int = 1) -> np.ndarray:
    """The same products in float32, by a job of their own."""
    path = products(replace(job, stored={}), "exact", FixedMatrices, times)
    (found,) = onnx_session(path).run(None, {"given": values})
    return found


def products(job: Job, name: str, make: MakeMatrices, times: int = 1) -> Path:
    """A graph "given" [3, H] -> "found": a product, so many times over."""
    width, rows = job.spec.talker.hidden, sum(part.stop for part in PARTS)
    with GraphBuilder(job.folder, name) as graph:
        matrices = make(graph, job)
        value = graph.input("given", np.float32, (3, width))
        found = [matrices.times(value, *PARTS) for _ in range(times)]
        graph.output("found", graph.op("Concat", *found, axis=1), np.float32, (3, times * rows))
        return graph.save({})


def around(values: np.ndarray, found: np.ndarray) -> Mapping[str, ProductRange]:
    """Ranges of a product by its name."""
    given, result = (ValueRange(float(each.min()), float(each.max())) for each in (values, found))
    return {product_name(PARTS): ProductRange(given, result)}


def test_a_watched_product_is_the_same_and_tells_its_ranges(job: Job) -> None:
    values = np.random.default_rng(1).standard_normal((3, job.spec.talker.hidden), np.float32)
    session = onnx_session(products(job, "watched", WatchedMatrices, 2))
    names = [each.name for each in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"given": values}), strict=True))
    exact = exactly(job, values, 2)
    np.testing.assert_array_equal(found.pop("found"), exact)
    assert {product_of_output(name) for name in found} == {product_name(PARTS)}
    assert len(found) == 2
    for sides in found.values():
        np.testing.assert_array_equal(
            sides, [[values.min(), values.max(), exact.min(), exact.max()]]
        )


def test_a_quantised_product_is_within_its_steps(job: Job) -> None:
    """A product's error is at most half a step of each rounding, through the sum."""
    values = np.random.default_rng(1).standard_normal((3, job.spec.talker.hidden), np.float32)
    exact = exactly(job, values)
    ranges = around(values, exact)

    quantised = partial(QuantisedMatrices, ranges=ranges)
    path = products(job, "quantised", quantised)
    (found,) = onnx_session(path).run(None, {"given": values})
    rows = np.concatenate([job.weights.rows(each.name, each.start, each.stop) for each in PARTS])
    whole, scales = quantised_rows(rows)
    (seen,) = ranges.values()
    steps = [float(scale_and_zero(each)[0]) for each in (seen.given, seen.found)]
    rounded = np.abs(values) @ np.full(rows.T.shape, 0.5) * scales
    bound = rounded + steps[0] / 2 * np.abs(whole * scales[:, None]).sum(1) + steps[1]
    assert (np.abs(found - exact) <= bound).all()
    assert np.abs(found - exact).max() > 0, "it is quantised"


def test_a_matrix_lies_once_in_eight_bits_however_often_it_is_used(job: Job) -> None:
    values = np.ones((3, job.spec.talker.hidden), np.float32)
    ranges = around(values, values)

    quantised = partial(QuantisedMatrices, ranges=ranges)
    path = products(job, "twice", quantised, 2)
    again = products(job, "again", quantised)
    nbytes = sum(part.stop for part in PARTS) * job.spec.talker.hidden
    assert nbytes <= path.with_name("twice.onnx.data").stat().st_size < 2 * nbytes
    assert not again.with_name("again.onnx.data").stat().st_size
    nodes = onnx.load(str(path), load_external_data=False).graph.node
    kinds = [node.op_type for node in nodes if node.domain]
    assert kinds.count("QuantizeLinear") == 4
    assert kinds.count("DequantizeLinear") == 6
    assert set(kinds) == {"QuantizeLinear", "DequantizeLinear"}


def test_a_product_of_which_nothing_was_seen_is_an_error(job: Job) -> None:
    with pytest.raises(OnnxError, match=r"nothing was seen of talker.model.*; convert again"):
        products(job, "unknown", partial(QuantisedMatrices, ranges={}))


@given(low=FLOATS, high=FLOATS, share=st.floats(0, 1))
def test_what_was_seen_and_as_much_again_is_within_a_step(
    low: float, high: float, share: float
) -> None:
    low, high = sorted((low, high))
    scale, zero = scale_and_zero(ValueRange(low, high))
    assert scale.dtype == np.float32
    assert scale > 0
    value = ROOM * (low + share * (high - low))
    whole = np.clip(np.rint(value / float(scale)) + int(zero), 0, 65535)
    step = float(scale) * (1 + 1e-3)
    assert abs((whole - int(zero)) * float(scale) - value) <= step


@given(rows=st.lists(st.lists(FLOATS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_rows_are_within_half_a_step_of_their_own(rows: list[list[float]]) -> None:
    exact = np.array(rows, np.float32)
    values, scales = quantised_rows(exact)
    error = np.abs(values * scales[:, None].astype(np.float64) - exact)
    assert (error <= scales[:, None] * (0.5 + 1e-3)).all()
    assert (scales > 0).all()
