"""The code predictor's graphs: their shapes, and that weights lie once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.fixed.predictor_graph import (
    FRAME_GRAPH,
    HEADS_GRAPH,
    PREDICTOR_GRAPH,
    PROJECTION_GRAPH,
    predictor_slots,
)
from s2s.tts.qwen3.fixed.weights import FIXED_F32
from tests.tts.qwen3.fixed.plain import check_plain

FolderOf = Callable[[str, str], Path]


@pytest.mark.parametrize("kind", ["0.6b-base", "1.7b-base"])
def test_every_shape_is_fixed(kind: str, converted_qwen3: FolderOf) -> None:
    folder = converted_qwen3(kind, FIXED_F32)
    names = [FRAME_GRAPH, PREDICTOR_GRAPH, HEADS_GRAPH]
    names += [PROJECTION_GRAPH] if read_spec(folder).projected else []
    for name in names:
        check_plain(folder / f"{name}.onnx")
    assert (folder / f"{PROJECTION_GRAPH}.onnx").exists() == (kind == "1.7b-base")


def test_there_is_a_slot_more_than_positions(converted_qwen3: FolderOf) -> None:
    folder = converted_qwen3("0.6b-base", FIXED_F32)
    assert predictor_slots(read_spec(folder)) == 17
    model = onnx.load(str(folder / f"{PREDICTOR_GRAPH}.onnx"), load_external_data=False)
    (key,) = (value for value in model.graph.input if value.name == "key.0")
    assert key.type.tensor_type.shape.dim[2].dim_value == 17


def test_the_passes_of_a_frame_share_their_weights(converted_qwen3: FolderOf) -> None:
    """One matrix by one name, in however many of the passes: compilers keep it once."""
    folder = converted_qwen3("0.6b-base", FIXED_F32)
    spec = read_spec(folder)
    model = onnx.load(str(folder / f"{FRAME_GRAPH}.onnx"), load_external_data=False)
    large = [each for each in model.graph.initializer if len(each.dims) == 2 and each.external_data]
    assert len(large) == 4 * spec.predictor.layers + spec.groups - 1 + 1
    places = {tuple((item.key, item.value) for item in each.external_data) for each in large}
    assert len(places) == len(large)
