"""Blocks of few bits: what is stored stands for what was given, and is read so by onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from s2s.core.arrays import Floats
from s2s.models.onnx_file.builder import GraphBuilder
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES, BlockMix, pack, predictor_default, unpack

QUANTISED = [mix for mix in BLOCK_MIXES.values() if not mix.whole]
each_mix = pytest.mark.parametrize("mix", QUANTISED, ids=lambda mix: mix.name)


def product(folder: Path, x: Floats, rows: Floats, mix: BlockMix) -> Floats:
    """x [n, width] times the stored rows, by onnxruntime, in float32 throughout."""
    packed = pack(rows, mix)
    with GraphBuilder(folder, "product") as graph:
        value = graph.input("x", np.float32, ("n", rows.shape[1]))
        stored = (packed.values, packed.scales.reshape(-1), packed.zeros.reshape(-1))
        y = graph.op(
            "MatMulNBits",
            value,
            *(graph.bulk(part) for part in stored),
            contrib=True,
            K=rows.shape[1],
            N=len(rows),
            bits=mix.bits,
            block_size=mix.block,
            accuracy_level=1,
        )
        graph.output("y", y, np.float32, ("n", len(rows)))
        session = onnx_session(graph.save({}))
    (result,) = session.run(None, {"x": x})
    return np.asarray(result, np.float32)


@each_mix
@pytest.mark.parametrize("rows", [1, 33], ids=lambda rows: f"{rows} rows")
def test_onnxruntime_reads_what_was_meant(mix: BlockMix, rows: int, tmp_path: Path) -> None:
    """Rows and blocks in any number, an odd number of blocks in a row included."""
    random = np.random.default_rng(0)
    for blocks in (2, 3):
        weight = random.standard_normal((rows, blocks * mix.block), dtype=np.float32) + 0.3
        x = random.standard_normal((2, weight.shape[1]), dtype=np.float32)
        expected = x @ unpack(pack(weight, mix), mix).T
        np.testing.assert_allclose(product(tmp_path, x, weight, mix), expected, atol=1e-3)


@each_mix
@given(data=st.data())
def test_no_value_is_further_off_than_its_block_allows(mix: BlockMix, data: st.DataObject) -> None:
    """Least squares may cut off outliers, but is never worse than even steps over the range, which
    has to hold zero."""
    values = st.floats(-1e3, 1e3, width=32)
    rows = data.draw(hnp.arrays(np.float32, (2, 2 * mix.block), elements=values))
    found = unpack(pack(rows, mix), mix)
    blocks, back = (array.reshape(-1, mix.block).astype(np.float64) for array in (rows, found))
    span = np.maximum(blocks.max(axis=1), 0) - np.minimum(blocks.min(axis=1), 0)
    step = 1.05 * span / (2**mix.bits - 1)
    off = ((blocks - back) ** 2).sum(axis=1)
    # Half a step from rounding, and as much at either end from the zero point's own rounding.
    assert (off <= mix.block * step**2 + 1e-20).all()


@each_mix
@pytest.mark.parametrize("value", [0.0, 1e-20, -3.0, 12345.0])
def test_one_value_throughout_is_kept(mix: BlockMix, value: float) -> None:
    rows = np.full((3, 2 * mix.block), value, np.float32)
    np.testing.assert_allclose(unpack(pack(rows, mix), mix), rows, rtol=1e-5, atol=1e-25)


@pytest.mark.parametrize(
    ("name", "naive_db", "least_db"), [("int4", 20.26, 22.1), ("int4-128", 18.61, 20.2)]
)
def test_searched_ranges_gain_over_the_largest_value(
    name: str, naive_db: float, least_db: float
) -> None:
    """On normally distributed weights, about two decibels."""
    mix = BLOCK_MIXES[name]
    rows = np.random.default_rng(1).standard_normal((512, 1024), dtype=np.float32)
    blocks = rows.reshape(-1, mix.block)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 7
    naive = (np.clip(np.rint(blocks / scale), -8, 7) * scale).reshape(rows.shape)
    assert snr_db(rows, naive) == pytest.approx(naive_db, abs=0.1)
    assert snr_db(rows, unpack(pack(rows, mix), mix)) > least_db


@pytest.mark.parametrize(("name", "least_db"), [("int8-32", 46), ("int8", 43)])
def test_eight_bits_are_nearly_exact(name: str, least_db: float) -> None:
    rows = np.random.default_rng(2).standard_normal((64, 1024), dtype=np.float32)
    assert snr_db(rows, unpack(pack(rows, BLOCK_MIXES[name]), BLOCK_MIXES[name])) > least_db


def snr_db(wanted: Floats, found: Floats) -> float:
    return float(10 * np.log10((wanted**2).sum() / ((wanted - found) ** 2).sum()))


@each_mix
def test_sizes_are_as_announced(mix: BlockMix) -> None:
    packed = pack(np.ones((5, 3 * mix.block), np.float32), mix)
    stored = packed.values.nbytes + packed.scales.nbytes + packed.zeros.nbytes
    assert stored == mix.nbytes(5, 3 * mix.block)


@each_mix
def test_what_cannot_be_stored_is_refused(mix: BlockMix) -> None:
    with pytest.raises(ValueError, match="divide"):
        pack(np.ones((1, mix.block + 1), np.float32), mix)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            pack(np.full((1, mix.block), bad, np.float32), mix)


def test_the_predictor_gets_eight_bits_or_more() -> None:
    chosen = {name: predictor_default(mix).name for name, mix in BLOCK_MIXES.items()}
    assert chosen == {
        "onnx-f32": "onnx-f32", "int8-32": "int8-32", "int8": "int8", "int4": "int8",
        "int4-128": "int8",
    }  # fmt: skip
