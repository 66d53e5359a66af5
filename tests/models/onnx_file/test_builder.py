"""Graphs written to disk and cached, and what tells one checkpoint from another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file import Tensor
from s2s.models.onnx_file.builder import GraphBuilder, cached_graph
from s2s.system.onnx import onnx_session
from tests.support.patience import PATIENCE_S

Tiny = Callable[[str], Path]


def double_graph(folder: Path, weight: np.ndarray) -> Path:
    """x [n, in] times weight [in, out], times two."""
    with GraphBuilder(folder, "double") as graph:
        x = graph.input("x", np.float32, ("n", weight.shape[0]))
        product = graph.op("MatMul", x, graph.weight(weight))
        two = graph.floats(2.0)
        assert graph.floats(2.0) == two
        graph.output("y", graph.op("Mul", product, two), np.float32, ("n", weight.shape[1]))
        return graph.save({"version": "7"})


@pytest.mark.parametrize("size", [3, 100], ids=["inside the graph", "beside it"])
def test_a_graph_computes_what_was_asked(tmp_path: Path, size: int) -> None:
    random = np.random.default_rng(0)
    weight = random.standard_normal((size, size))
    session = onnx_session(double_graph(tmp_path, weight))
    x = random.standard_normal((4, size)).astype(np.float32)
    (y,) = session.run(["y"], {"x": x})
    np.testing.assert_allclose(y, 2 * x @ weight.astype(np.float32), rtol=1e-5, atol=1e-5)
    assert session.get_modelmeta().custom_metadata_map == {"version": "7"}
    assert (tmp_path / "double.onnx").stat().st_size < 2_000
    assert ((tmp_path / "double.onnx.data").stat().st_size >= 4 * size * size) == (size == 100)


def test_of_two_that_build_at_once_one_wins(tmp_path: Path) -> None:
    both = threading.Barrier(2)
    paths: list[Path] = []

    def build(folder: Path) -> Path:
        both.wait(timeout=PATIENCE_S)  # neither is done when the other begins
        return double_graph(folder, np.ones((3, 3)))

    def open_graph() -> None:
        paths.append(cached_graph(tmp_path / "graph", "double", build))

    threads = [threading.Thread(target=open_graph) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [tmp_path / "graph" / "double.onnx"] * 2
    assert paths[0].is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def build(folder: Path) -> Path:
        double_graph(folder, np.ones((3, 3)))
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        cached_graph(tmp_path / "graph", "double", build)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_lost_its_graph_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    for _ in range(2):
        path = cached_graph(folder, "double", lambda to: double_graph(to, np.ones((3, 3))))
        assert path.is_file()
        path.unlink()
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_the_chosen_branch_is_what_comes_out(tmp_path: Path) -> None:
    """Large weights of a branch lie in it, beside those of the graph in one data file."""
    random = np.random.default_rng(1)
    weights = [random.standard_normal((40, 40)).astype(np.float32) for _ in range(3)]
    with GraphBuilder(tmp_path, "either") as graph:
        x = graph.input("x", np.float32, (2, 40))
        number = graph.input("number", np.int64, ())
        shared = graph.op("MatMul", x, graph.bulk(weights[0]))

        def times(at: int) -> str:
            return graph.op("MatMul", shared, graph.bulk(weights[at]))

        first = graph.op("Less", number, graph.constant(np.array(1, np.int64)))
        chosen = graph.choose(first, lambda: times(1), lambda: times(2))
        graph.output("y", chosen, np.float32, (2, 40))
        session = onnx_session(graph.save({}))
    x_value = random.standard_normal((2, 40)).astype(np.float32)
    for number_value in (0, 1):
        (y,) = session.run(None, {"x": x_value, "number": np.array(number_value)})
        expected = x_value @ weights[0] @ weights[1 + number_value]
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("file", ["double.onnx", "double.onnx.data", "files.json"])
def test_a_damaged_graph_is_built_again(file: str, tmp_path: Path) -> None:
    """One byte is enough: what reads graphs trusts them."""
    built: list[Path] = []

    def build(to: Path) -> Path:
        built.append(to)
        return double_graph(to, np.ones((100, 100)))

    path = cached_graph(tmp_path / "graph", "double", build)
    content = bytearray((path.parent / file).read_bytes())
    content[len(content) // 2] ^= 1
    (path.parent / file).write_bytes(content)
    assert cached_graph(tmp_path / "graph", "double", build) == path
    assert len(built) == 2
    cached_graph(tmp_path / "graph", "double", build)
    assert len(built) == 2
    assert [each.name for each in tmp_path.iterdir()] == ["graph"]


def test_a_weight_that_graphs_share_lies_once(tmp_path: Path) -> None:
    """By its contents: whatever made it."""
    shared: dict[bytes, Tensor] = {}
    matrix = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    given, found = np.ones((1, 40), np.float32), list[np.ndarray]()
    for name in ("first", "second"):
        with GraphBuilder(tmp_path, name, shared) as graph:
            x = graph.input("x", np.float32, (1, 40))
            first = graph.op("MatMul", x, graph.weight(matrix.copy()))
            again = graph.op("MatMul", first, graph.weight(matrix.astype(np.float64)))
            graph.output("y", again, np.float32, (1, 40))
            path = graph.save({})
        found += onnx_session(path).run(None, {"x": given})
    sizes = [(tmp_path / f"{name}.onnx.data").stat().st_size for name in ("first", "second")]
    assert sizes == [matrix.nbytes, 0]
    np.testing.assert_allclose(found, [given @ matrix @ matrix] * 2, rtol=1e-4)


def test_weights_of_one_content_and_two_shapes_are_two(tmp_path: Path) -> None:
    shared: dict[bytes, Tensor] = {}
    with GraphBuilder(tmp_path, "shapes", shared) as graph:
        graph.weight(np.zeros((20, 30)))
        graph.weight(np.zeros((30, 20)))
    assert len(shared) == 2
