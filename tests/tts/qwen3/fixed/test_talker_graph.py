"""The talker's graphs: their shapes, and how many slots there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.fixed.talker_graph import (
    BLOCK,
    CAPACITIES,
    capacities,
    talker_graph_name,
)
from s2s.tts.qwen3.fixed.weights import FIXED_F32
from tests.tts.qwen3.fixed.plain import check_plain

KIND = "0.6b-base"
FolderOf = Callable[[str, str], Path]


@pytest.mark.parametrize("positions", [1, BLOCK])
def test_every_shape_is_fixed(positions: int, converted_qwen3: FolderOf) -> None:
    folder = converted_qwen3(KIND, FIXED_F32)
    for slots in capacities(read_spec(folder)):
        kinds = check_plain(folder / f"{talker_graph_name(slots, positions)}.onnx")
        assert ("Gather" in kinds) == (positions > 1)  # the row that is asked about


def test_weights_lie_once_however_many_graphs_there_are(converted_qwen3: FolderOf) -> None:
    folder = converted_qwen3(KIND, FIXED_F32)
    first, *others = (
        (folder / f"{talker_graph_name(slots, positions)}.onnx.data").stat().st_size
        for slots in capacities(read_spec(folder))
        for positions in (1, BLOCK)
    )
    assert all(size < first / 20 for size in others)


@pytest.mark.parametrize(
    ("most", "numbers"),
    [(100, (512,)), (512, (512,)), (600, (512, 1024)), (32768, CAPACITIES)],
)
def test_there_are_slots_for_all_positions_of_a_model(
    most: int, numbers: tuple[int, ...], tiny_qwen3: Callable[[str], Path]
) -> None:
    spec = read_spec(tiny_qwen3(KIND))
    assert capacities(replace(spec, talker=replace(spec.talker, max_positions=most))) == numbers
