"""Graphs of MNN opened: planned once for each set of shapes, given everything at every run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.mnn.converter import convert_graphs
from s2s.tts.qwen3.mnn.devices import device_named
from s2s.tts.qwen3.mnn.quant import MNN_MIXES
from s2s.tts.qwen3.mnn.session import MnnGraph
from tests.tts.qwen3.mnn.fake_mnn import Interpreter


@pytest.fixture
def doubling(fake_mnn: type[Interpreter], tmp_path: Path) -> Path:
    """x to x + x."""

    def build(folder: Path) -> list[Path]:
        with GraphBuilder(folder, "double") as graph:
            x = graph.input("x", np.float32, ("n", 2))
            graph.output("twice", graph.op("Add", x, x), np.float32, ("n", 2))
            return [graph.save({})]

    convert_graphs(tmp_path, MNN_MIXES["mnn-f32"], build)
    return tmp_path / "double.mnn"


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_it_is_planned_once_for_each_set_of_shapes(
    device: str, doubling: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A processor's memory is written to, another's is copied to: with the same result."""
    monkeypatch.setattr(Interpreter, "back_ends", (0, 3))
    graph = MnnGraph(doubling, device_named(device), 2)
    (made,) = Interpreter.made
    given = np.arange(6, dtype=np.float32).reshape(3, 2)
    for rows in (3, 3, 1, 1, 3):
        found = graph.run({"x": given[:rows]})["twice"]
        np.testing.assert_array_equal(found, 2 * given[:rows])
    assert [plan["x"] for plan in made.plans] == [(3, 2), (1, 2), (3, 2)]
    (session,) = made.sessions
    assert session.config["numThread"] == 2
    assert session.config["memory"] == 2
    assert session.config["precision"] == 1


def test_what_it_gave_stays(doubling: Path) -> None:
    graph = MnnGraph(doubling, device_named("cpu"), 1)
    first = graph.run({"x": np.ones((1, 2), np.float32)})["twice"]
    graph.run({"x": np.zeros((1, 2), np.float32)})
    np.testing.assert_array_equal(first, [[2, 2]])


def test_errors_say_what_is_wrong(doubling: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = MnnGraph(doubling, device_named("cpu"), 1)
    with pytest.raises(ValueError, match=r"double.mnn takes x"):
        graph.run({"y": np.ones((1, 2), np.float32)})
    monkeypatch.setattr(Interpreter, "code", 3)
    with pytest.raises(MnnError, match="error 3"):
        graph.run({"x": np.ones((1, 2), np.float32)})
    with pytest.raises(MnnError, match=r"mnn@qnn: this MNN has no qnn; .*-DMNN_QNN=ON"):
        MnnGraph(doubling, device_named("qnn"), 1)
    with pytest.raises(MnnError, match=r"other.mnn is missing; convert"):
        MnnGraph(doubling.with_name("other.mnn"), device_named("cpu"), 1)
    doubling.write_bytes(b"no graph")
    with pytest.raises(MnnError, match="cannot be opened; convert it again"):
        MnnGraph(doubling, device_named("cpu"), 1)
