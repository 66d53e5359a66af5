"""GGUF files: what is written is read back, and nothing broken gets through."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2s.core.arrays import Floats
from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.quant import TYPES, Bytes, dequantize, quantize

METADATA: dict[str, gguf.Value] = {
    "general.architecture": "test",
    "a.number": 7,
    "a.negative": -3,
    "a.large": 1 << 40,
    "a.fraction": 0.5,
    "a.truth": True,
    "a.text": "ü 你好",
    "some.numbers": [1, 2, 3],
    "some.texts": ["a", "b"],
}


def no_k_quants(rows: Floats, kind: object) -> Bytes:
    raise AssertionError("no K-quant was asked for")


def tensor(name: str, values: Floats, kind: str = "f32", piece: int = 2) -> gguf.NewTensor:
    rows = values.reshape(-1, values.shape[-1])

    def chunks() -> Iterator[Bytes]:
        for start in range(0, len(rows), piece):
            yield quantize(rows[start : start + piece], TYPES[kind], no_k_quants)

    return gguf.NewTensor(name, values.shape, TYPES[kind], chunks)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "a.gguf"
    values = np.arange(5 * 64, dtype=np.float32).reshape(5, 64)
    gguf.write(path, METADATA, [tensor("m", values), tensor("v", values[0]), tensor("q", values)])
    return path


def test_metadata_and_tensors_come_back(written: Path) -> None:
    file = gguf.GGUFFile(written)
    assert file.metadata == METADATA
    assert file.require("m", (5, 64)).kind == TYPES["f32"]
    np.testing.assert_array_equal(
        dequantize(file.raw("m"), TYPES["f32"]), np.arange(320, dtype=np.float32).reshape(5, 64)
    )
    assert file.raw("v").shape == (1, 256)


@given(st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_shapes_types_and_pieces_come_back(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "any.gguf"
    kinds = ["f32", "f16", "bf16", "q8_0"]
    wanted: dict[str, tuple[str, Floats]] = {}
    for at in range(data.draw(st.integers(1, 5))):
        kind = data.draw(st.sampled_from(kinds))
        shape = (data.draw(st.integers(1, 7)), 32 * data.draw(st.integers(1, 3)))
        values = np.random.default_rng(at).integers(-9, 9, shape).astype(np.float32)
        wanted[f"t{at}"] = kind, values
    gguf.write(
        path,
        {"general.architecture": "test"},
        [tensor(n, v, k, data.draw(st.integers(1, 8))) for n, (k, v) in wanted.items()],
    )
    file = gguf.GGUFFile(path)
    assert list(file.tensors) == list(wanted)
    for name, (kind, values) in wanted.items():
        np.testing.assert_allclose(dequantize(file.raw(name), TYPES[kind]), values, atol=0.08)


@given(st.integers(0, 2000))
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_anywhere_is_an_error(tmp_path: Path, cut: int) -> None:
    whole, part = tmp_path / "whole.gguf", tmp_path / "part.gguf"
    if not whole.exists():
        values = np.ones((3, 64), np.float32)
        gguf.write(whole, METADATA, [tensor("a", values), tensor("b", values)])
    content = whole.read_bytes()
    part.write_bytes(content[: min(cut, len(content) - 1)])
    with pytest.raises(gguf.GGUFError):
        gguf.GGUFFile(part)


@given(st.binary(max_size=300))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_behind_the_magic_is_an_error_or_an_empty_file(tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / "noise.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 3) + noise)
    with contextlib.suppress(gguf.GGUFError):
        assert gguf.GGUFFile(path).tensors == {}


def test_a_huge_count_does_not_allocate(tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    array = struct.pack("<Q1sIIQ", 1, b"k", 9, 4, 1 << 60)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + array + bytes(64))
    with pytest.raises(gguf.GGUFError, match="truncated"):
        gguf.GGUFFile(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "too short"),
        (b"PK\x03\x04" + bytes(60), "not a GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0) + bytes(40), "version 1"),
    ],
)
def test_other_files_are_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(gguf.GGUFError, match=message):
        gguf.GGUFFile(path)


def test_a_missing_tensor_and_a_wrong_shape_are_named(written: Path) -> None:
    file = gguf.GGUFFile(written)
    with pytest.raises(gguf.GGUFError, match="'nope' is missing"):
        file.raw("nope")
    with pytest.raises(gguf.GGUFError, match="'nope' is missing"):
        file.require("nope", (1,))
    with pytest.raises(gguf.GGUFError, match=r"shape \(5, 64\), expected \(64, 5\)"):
        file.require("m", (64, 5))


def test_pieces_that_do_not_add_up_are_an_error(tmp_path: Path) -> None:
    short = gguf.NewTensor("m", (4, 8), TYPES["f32"], lambda: iter([np.zeros((1, 32), np.uint8)]))
    with pytest.raises(gguf.GGUFError, match="made 32 bytes, its shape says 128"):
        gguf.write(tmp_path / "x.gguf", {}, [short])


@pytest.mark.parametrize(
    ("architecture", "key", "expected"),
    [
        ("qwen3-tts", "qwen3-tts.code_pred.embedding_length", "qwentts.cpp layout"),
        ("qwen3-tts", "qwen3-tts.code_predictor.layer_count", "predict-woo"),
        ("qwen3-tts-tokenizer", "x", "qwentts.cpp speech tokenizer"),
        ("qwen3tts", "qwen3tts.talker.n_layers", "CrispASR"),
        ("qwen3tts", "qwen3tts.block_count", "llama.cpp layout"),
        ("clip", "x", "mmproj"),
        ("qwen3", "qwen3.block_count", "bare talker"),
        ("gpt2", "x", "unknown layout"),
    ],
)
def test_public_layouts_are_told_apart(
    architecture: str, key: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    metadata: dict[str, gguf.Value] = {"general.architecture": architecture, key: 28}
    gguf.write(path, metadata, [tensor("t", np.zeros((1, 32), np.float32))])
    with pytest.raises(gguf.GGUFError, match=expected):
        gguf.refuse_foreign(path)
