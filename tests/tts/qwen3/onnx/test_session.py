"""Graphs of a stack, opened: room, rewinding, and files that are not right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec, read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.onnx.session import (
    StackGraph,
    check_files,
    new_cache,
    open_graph,
    open_session,
    rope,
)


@pytest.fixture(scope="module")
def folder(tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return convert(tiny_qwen3("0.6b-base"), "int8", converted=tmp_path_factory.mktemp("onnx"))


@pytest.fixture(scope="module")
def spec(folder: Path) -> Spec:
    return read_spec(folder)


def stack(folder: Path, spec: DecoderSpec) -> StackGraph:
    return StackGraph(open_graph(folder, "talker", 1)[0], spec)


def vectors(count: int, spec: DecoderSpec) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((count, spec.hidden), np.float32)


def test_positions_are_appended_until_there_is_no_room(folder: Path, spec: Spec) -> None:
    graph, cache = stack(folder, spec.talker), new_cache(5, spec.talker)
    given = vectors(5, spec.talker)
    graph.feed(cache, given[:3])
    graph.feed(cache, given[3:4])
    assert (cache.positions, cache.forward_passes) == (4, 2)
    with pytest.raises(ValueError, match="no room for 2 more: 4 of 5"):
        graph.feed(cache, given[:2])


def test_going_back_is_as_if_it_had_not_been_fed(folder: Path, spec: Spec) -> None:
    graph, cache = stack(folder, spec.talker), new_cache(8, spec.talker)
    given = vectors(4, spec.talker)
    graph.feed(cache, given[:2])
    first = {name: value.copy() for name, value in graph.feed(cache, given[2:3]).items()}
    cache.rewind(2)
    graph.feed(cache, given[3:4])
    cache.rewind(2)
    for name, value in graph.feed(cache, given[2:3]).items():
        np.testing.assert_array_equal(value, first[name])
    with pytest.raises(ValueError, match="cannot go back to 9"):
        cache.rewind(9)


def test_a_closed_cache_and_wrong_vectors_are_refused(folder: Path, spec: Spec) -> None:
    graph, cache = stack(folder, spec.talker), new_cache(5, spec.talker)
    for wrong in (np.zeros((0, spec.talker.hidden)), np.zeros((1, 3)), np.zeros(3)):
        with pytest.raises(ValueError, match="wanted"):
            graph.feed(cache, wrong.astype(np.float32))
    cache.close()
    with pytest.raises(ValueError, match="closed"):
        graph.feed(cache, vectors(1, spec.talker))
    with pytest.raises(ValueError, match="needs room"):
        new_cache(0, spec.talker)


def test_a_graph_of_another_shape_than_the_config_is_refused(folder: Path, spec: Spec) -> None:
    with pytest.raises(OnnxError, match="convert the checkpoint again"):
        stack(folder, replace(spec.talker, layers=spec.talker.layers + 1))


def test_missing_and_damaged_graphs_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(OnnxError, match=r"talker\.onnx is missing"):
        check_files(tmp_path, "talker")
    (tmp_path / "talker.onnx").write_bytes(b"no graph")
    with pytest.raises(OnnxError, match=r"talker\.onnx cannot be opened"):
        open_session(tmp_path / "talker.onnx", 1)


def test_rotary_angles_begin_at_nothing_and_turn_by_their_frequency(spec: Spec) -> None:
    made = rope(4, spec.talker)
    assert made["cos"].shape == (4, spec.talker.head_dim // 2)
    assert made["cos"][0].tolist() == [1.0] * (spec.talker.head_dim // 2)
    np.testing.assert_allclose(made["sin"][:, 0], np.sin(np.arange(4)), atol=1e-6)
    np.testing.assert_allclose(made["cos"] ** 2 + made["sin"] ** 2, 1.0, atol=1e-6)
