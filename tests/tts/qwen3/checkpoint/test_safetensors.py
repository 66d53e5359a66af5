"""Reading weights and configs, and refusing what cannot be used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint, open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import CheckpointError, WeightError

Tiny = Callable[[str], Path]


def write(path: Path, tensors: dict[str, tuple[str, list[int], bytes]]) -> Path:
    """A safetensors file of (dtype, shape, raw data) by name."""
    header: dict[str, Any] = {}
    data = b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.fixture
def copy(tiny_qwen3: Tiny, tmp_path: Path) -> Path:
    """A checkpoint that may be damaged."""
    return shutil.copytree(tiny_qwen3("0.6b-customvoice"), tmp_path / "copy")


def test_bfloat16_is_widened_exactly(tmp_path: Path) -> None:
    every = np.arange(0x10000, dtype=np.uint16)
    every = every[every & 0x7F80 != 0x7F80]  # the others stand for no finite number
    path = write(tmp_path / "w.safetensors", {"x": ("BF16", [len(every)], every.tobytes())})
    assert Checkpoint(path)["x"].view(np.uint32).tolist() == (every.astype(int) << 16).tolist()


@pytest.mark.parametrize(("dtype", "kind"), [("F32", np.float32), ("F16", np.float16)])
def test_parts_are_the_whole_cut_up(dtype: str, kind: type, tmp_path: Path) -> None:
    values = np.arange(24, dtype=kind).reshape(6, 4)
    path = write(tmp_path / "w.safetensors", {"x": (dtype, [6, 4], values.tobytes())})
    weights = Checkpoint(path)
    assert weights.shape("x") == (6, 4)
    assert weights.dtype("x") == dtype
    assert weights["x"].tolist() == values.tolist()
    assert weights.rows("x", 2, 5).tolist() == values[2:5].tolist()
    assert weights.take("x", np.array([5, 0, 5])).tolist() == values[[5, 0, 5]].tolist()
    assert weights["x"].dtype == np.float32
    with pytest.raises(IndexError):
        weights.rows("x", 2, 7)
    with pytest.raises(IndexError):
        weights.take("x", np.array([6]))


def test_several_files_with_an_index_are_one_checkpoint(tmp_path: Path) -> None:
    raw = np.ones(2, np.float32).tobytes()
    write(tmp_path / "a.safetensors", {"one": ("F32", [2], raw)})
    write(tmp_path / "b.safetensors", {"two": ("F32", [2], raw)})
    index = {"weight_map": {"one": "a.safetensors", "two": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert sorted(Checkpoint(tmp_path).names) == ["one", "two"]


def test_a_missing_tensor_is_named(copy: Path) -> None:
    with pytest.raises(CheckpointError, match=r"codec_head\.weight missing"):
        Checkpoint(copy / "model.safetensors").require({"talker2.codec_head.weight": (1,)})


def test_a_wrong_shape_is_named_with_both_shapes(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    config["talker_config"]["intermediate_size"] = 320
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"\[256, 256\] and should be \[320, 256\]"):
        open_checkpoint(copy, read_spec(copy))


@pytest.mark.parametrize("size", [0, 5, 100, 20_000, -1])
def test_a_truncated_file_is_refused(copy: Path, size: int) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(CheckpointError, match=r"cut off|not a safetensors|cannot be read"):
        Checkpoint(copy)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04 a pickle of torch.save is a zip archive",
        (1 << 40).to_bytes(8, "little") + b"{}",
        (4).to_bytes(8, "little") + b"null",
        (2).to_bytes(8, "little") + b"{]",
        (17).to_bytes(8, "little") + b'{"x":{"dtype":1}}',
    ],
)
def test_another_format_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"safetensors"):
        Checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (("F32", [3], b"\0" * 8), "8 bytes for"),
        (("I64", [1], b"\0" * 8), "stored as I64"),
        (("F32", [-2], b""), "the entry of x is malformed"),
    ],
)
def test_an_impossible_entry_is_refused(
    entry: tuple[str, list[int], bytes], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "w.safetensors", {"x": entry})
    with pytest.raises(CheckpointError, match=message):
        Checkpoint(path)


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(CheckpointError, match=r"only safetensors.*pytorch_model\.bin"):
        Checkpoint(tmp_path)


def packed(path: Path, **changed: tuple[str, list[int], bytes]) -> Path:
    """A matrix of MLX's in four bits, [2, 64]: code 1 everywhere, scale 2, bias 1."""
    tensors = {
        "a.weight": ("U32", [2, 8], np.full(16, 0x11111111, np.uint32).tobytes()),
        "a.scales": ("BF16", [2, 1], np.full(2, 0x4000, np.uint16).tobytes()),
        "a.biases": ("BF16", [2, 1], np.full(2, 0x3F80, np.uint16).tobytes()),
    }
    return write(path / "packed.safetensors", {**tensors, **changed})


def test_a_matrix_that_mlx_quantised_reads_as_what_it_stands_for(tmp_path: Path) -> None:
    weights = Checkpoint(packed(tmp_path))
    assert (weights.shape("a.weight"), weights.dtype("a.weight")) == ((2, 64), "U32")
    assert (weights.load("a.weight") == 3).all()
    assert weights.rows("a.weight", 1, 2).shape == (1, 64)
    assert weights.affine("a.scales") is None
    weights.require({"a.weight": (2, 64)})


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"a.scales": ("BF16", [1, 2], b"\0\0\0\0")}, "only those in MLX's affine groups of 64"),
        ({"a.biases": ("U32", [2, 1], bytes(8))}, "only those in MLX's affine groups of 64"),
        ({"a.weight": ("U32", [2, 20], bytes(160))}, "only those in MLX's affine groups of 64"),
        ({"a.weight": ("U32", [16], bytes(64))}, "only those in MLX's affine groups of 64"),
        ({"b.weight": ("U32", [2, 8], bytes(64))}, r"b\.scales is missing"),
    ],
)
def test_other_matrices_of_whole_numbers_are_refused(
    changed: dict[str, tuple[str, list[int], bytes]], says: str, tmp_path: Path
) -> None:
    name = "b.weight" if "b.weight" in changed else "a.weight"
    weights = Checkpoint(packed(tmp_path, **changed))
    for read in (weights.load, weights.shape, weights.affine):
        with pytest.raises(CheckpointError, match=says):
            read(name)


def test_a_scale_that_is_no_number_is_named(tmp_path: Path) -> None:
    infinite = np.full(2, 0x7F80, np.uint16).tobytes()
    weights = Checkpoint(packed(tmp_path, **{"a.scales": ("BF16", [2, 1], infinite)}))
    for read in (weights.load, weights.affine):
        with pytest.raises(WeightError, match=r"a\.scales"):
            read("a.weight")


def test_a_convolution_that_mlx_wrote_is_turned(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    path = write(tmp_path / "a.safetensors", {"conv": ("F32", [2, 3, 4], values.tobytes())})
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    text = b'{"__metadata__": {"format": "mlx"}, ' + raw[9 : 8 + length]
    path.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + length :])
    weights = Checkpoint(path)
    assert weights.shape("conv") == (2, 4, 3)
    np.testing.assert_array_equal(weights.load("conv"), values.swapaxes(1, 2))
    np.testing.assert_array_equal(weights.rows("conv", 1, 2), values.swapaxes(1, 2)[1:])
