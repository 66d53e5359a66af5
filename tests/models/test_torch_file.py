"""A checkpoint is read as PyTorch writes it, and nothing in it is run."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.models.torch_file import TorchFileError, read_floats
from tests.support.torch_checkpoint import checkpoint, mapping, tensor, text


def test_tensors_come_with_their_shapes_and_places(tmp_path: Path) -> None:
    kept = np.arange(12, dtype="<f4")
    told = mapping(
        {
            "whole": tensor("FloatStorage", "1", 0, (3, 4), (4, 1)),
            "part": tensor("FloatStorage", "1", 5, (2, 1, 3), (3, 3, 1)),
            "one": tensor("FloatStorage", "1", 11, (), ()),
            "counter": tensor("LongStorage", "2", 0, (), ()),
        }
    )
    path = checkpoint(tmp_path / "net.pt", told, {"1": kept.tobytes(), "2": bytes(8)})
    read = read_floats(path)
    assert sorted(read) == ["one", "part", "whole"]
    np.testing.assert_array_equal(read["whole"], kept.reshape(3, 4))
    np.testing.assert_array_equal(read["part"], kept[5:11].reshape(2, 1, 3))
    assert read["one"] == 11.0


def test_what_is_no_dense_tensor_is_refused(tmp_path: Path) -> None:
    told = mapping({"turned": tensor("FloatStorage", "1", 0, (3, 4), (1, 3))})
    path = checkpoint(tmp_path / "net.pt", told, {"1": bytes(48)})
    with pytest.raises(TorchFileError, match=r"strides \(1, 3\)"):
        read_floats(path)


def test_nothing_is_run(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "net.pt", b"\x80\x02cos\nsystem\n(" + text("true") + b"tR.", {})
    with pytest.raises(TorchFileError, match=r"it asks for os\.system"):
        read_floats(path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def emptied(path: Path) -> None:
    checkpoint(path, b"", {})


def listed(path: Path) -> None:
    checkpoint(path, pickle.dumps([1], 2), {})


def missing(path: Path) -> None:
    checkpoint(path, mapping({"a": tensor("FloatStorage", "9", 0, (1,), (1,))}), {})


@pytest.mark.parametrize("damage", [cut, emptied, listed, missing])
def test_another_file_is_an_error_that_names_it(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    path = checkpoint(tmp_path / "net.pt", pickle.dumps(OrderedDict(), 2), {})
    assert read_floats(path) == {}
    damage(path)
    with pytest.raises(TorchFileError, match=r"net\.pt"):
        read_floats(path)
