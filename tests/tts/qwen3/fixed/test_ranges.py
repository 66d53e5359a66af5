"""Ranges of products: they grow, and what was written is read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.fixed.ranges import (
    ProductRange,
    SeenRanges,
    ValueRange,
    product_name,
    read_ranges,
)
from s2s.tts.qwen3.onnx.transformer import Rows

FLOATS = st.floats(-1e6, 1e6, width=32)


def test_a_product_is_named_by_all_its_rows() -> None:
    assert product_name((Rows("q", 0, 8), Rows("k", 2, 4))) == "q[0:8] k[2:4]"


@given(runs=st.lists(st.tuples(FLOATS, FLOATS, FLOATS, FLOATS), min_size=1))
def test_all_that_was_seen_is_inside(
    runs: list[tuple[float, float, float, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    seen, path = SeenRanges(), tmp_path_factory.mktemp("ranges") / "ranges.json"
    for sides in runs:
        seen.add("q", np.array(sides, np.float32))
    seen.write(path)
    first, second, third, fourth = zip(*runs, strict=True)
    given = ValueRange(min(first), max(second))
    assert read_ranges(path) == {"q": ProductRange(given, ValueRange(min(third), max(fourth)))}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(OnnxError, match=r"q gives \[0.0, .*\]: the checkpoint is no use"):
        SeenRanges().add("q", np.array([0, value, 0, 0], np.float32))


@pytest.mark.parametrize("found", [None, "wide", [], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, "4"], {}])
def test_a_file_that_was_changed_is_refused(found: object, tmp_path: Path) -> None:
    path = tmp_path / "ranges.json"
    path.write_text(json.dumps({"q": found}))
    with pytest.raises(OnnxError, match=r"ranges\.json: q has .*, not 4 numbers; convert again"):
        read_ranges(path)
