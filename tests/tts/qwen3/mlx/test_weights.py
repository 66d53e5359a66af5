"""The files of a checkpoint that is converted for MLX, also from one of mlx-community."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.checkpoint.affine import affine_dequantize, from_bf16, to_bf16
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import CheckpointError, ConvertError
from s2s.tts.qwen3.mlx.quant import AFFINE_MIXES
from s2s.tts.qwen3.mlx.weights import (
    PREDICTOR_FILE,
    TALKER_FILE,
    MlxWeights,
    check_groups,
    open_stored,
    predictor_shapes,
    stored_shapes,
    talker_shapes,
)
from tests.tts.qwen3.mlx_community import write_mlx_community

KIND = "0.6b-base"
NAME = "talker.model.layers.0.mlp.gate_proj.weight"
Tiny = Callable[[str], Path]
FolderOf = Callable[[str, str], Path]


def test_names_of_mixes_are_checked() -> None:
    assert MlxWeights.of("MLX-6", None).predictor == "mlx-8"
    assert MlxWeights.of("mlx-6", "mlx-4").predictor == "mlx-4"
    with pytest.raises(ConvertError, match="a talker in mlx-6 needs a predictor in one of mlx-f32"):
        MlxWeights.of("mlx-6", "q8_0")


@pytest.mark.parametrize(("quant", "bits"), [("mlx-4", 4), ("mlx-6", 6), ("mlx-8", 8)])
def test_matrices_are_quantised_and_the_rest_is_not(
    quant: str, bits: int, converted_qwen3: FolderOf, tiny_qwen3: Tiny
) -> None:
    folder, spec = converted_qwen3(KIND, quant), read_spec(tiny_qwen3(KIND))
    weights, name = open_stored(folder, TALKER_FILE, talker_shapes(spec))
    assert name == quant
    official = Checkpoint(tiny_qwen3(KIND))
    for each in talker_shapes(spec):
        wanted = official.load(each)
        if wanted.ndim == 1:
            assert weights.dtype(each) == "BF16"
            np.testing.assert_array_equal(weights.load(each), from_bf16(to_bf16(wanted)))
            continue
        assert weights.dtype(each) == "U32"
        assert weights.shape(each) == wanted.shape
        step = np.ptp(wanted.reshape(len(wanted), -1, 64), axis=2).max() / ((1 << bits) - 1)
        assert np.abs(weights.load(each) - wanted).max() < step
    assert not any("embedding" in each for each in weights.names)
    _, predictor = open_stored(folder, PREDICTOR_FILE, predictor_shapes(spec))
    assert predictor == "mlx-8"


def test_floats_are_kept_as_they_are(converted_qwen3: FolderOf, tiny_qwen3: Tiny) -> None:
    official = Checkpoint(tiny_qwen3(KIND)).load(NAME)
    exact = Checkpoint(converted_qwen3(KIND, "mlx-f32") / TALKER_FILE)
    np.testing.assert_array_equal(exact.load(NAME), official)
    half = Checkpoint(converted_qwen3(KIND, "mlx-bf16") / TALKER_FILE)
    np.testing.assert_array_equal(half.load(NAME), from_bf16(to_bf16(official)))


@pytest.mark.parametrize("bits", [4, 6, 8])
def test_a_checkpoint_of_mlx_community_is_copied_in_its_bits(
    bits: int, tiny_qwen3: Tiny, tmp_path: Path
) -> None:
    given = write_mlx_community(tiny_qwen3(KIND), tmp_path / "given", bits)
    folder = convert(given, f"mlx-{bits}", converted=tmp_path / "converted")
    there, here = Checkpoint(given), Checkpoint(folder / TALKER_FILE)
    for part in ("weight", "scales", "biases"):
        name = NAME.replace("weight", part)
        np.testing.assert_array_equal(here.stored(name), there.stored(name))
    assert (folder / "converted.json").is_file()


def test_a_checkpoint_of_mlx_community_is_any_cores(tiny_qwen3: Tiny, tmp_path: Path) -> None:
    """Read as what it stands for, and quantised for another core."""
    given = write_mlx_community(tiny_qwen3(KIND), tmp_path / "given", 8)
    stored, official = Checkpoint(given), Checkpoint(tiny_qwen3(KIND))
    packed = stored.affine(NAME)
    assert packed is not None
    whole = stored.load(NAME)
    np.testing.assert_array_equal(
        whole,
        affine_dequantize(packed.values, from_bf16(packed.scales), from_bf16(packed.biases)),
    )
    np.testing.assert_array_equal(stored.rows(NAME, 3, 9), whole[3:9])
    np.testing.assert_array_equal(stored.take(NAME, np.array([5, 0])), whole[[5, 0]])
    assert 0 < np.abs(whole - official.load(NAME)).max() < 0.02
    for name in (name for name in official.names if official.load(name).ndim == 3):
        assert stored.shape(name) == official.shape(name)
        np.testing.assert_array_equal(
            stored.load(name), from_bf16(to_bf16(official.load(name))).reshape(stored.shape(name))
        )
    folder = convert(given, "mlx-4", converted=tmp_path / "converted")
    assert Checkpoint(folder / TALKER_FILE).affine(NAME) is not None
    assert convert(given, "q8_0", converted=tmp_path / "converted").is_dir()


def test_a_damaged_folder_says_what_is_wrong(converted_qwen3: FolderOf, tmp_path: Path) -> None:
    whole, folder = converted_qwen3(KIND, "mlx-6"), tmp_path / "copy"
    shutil.copytree(whole, folder)
    spec, file = read_spec(whole), folder / TALKER_FILE
    shapes = talker_shapes(spec)
    data = file.read_bytes()
    file.write_bytes(data[:-1000])
    with pytest.raises(CheckpointError, match="cut off"):
        open_stored(folder, TALKER_FILE, shapes)
    file.write_bytes(data.replace(b'"version":"1"', b'"version":"9"', 1))
    with pytest.raises(CheckpointError, match="another version"):
        open_stored(folder, TALKER_FILE, shapes)
    shutil.copy(converted_qwen3("0.6b-customvoice", "mlx-6") / TALKER_FILE, file)
    with pytest.raises(CheckpointError, match="different checkpoints"):
        open_stored(folder, TALKER_FILE, shapes)
    file.unlink()
    with pytest.raises(CheckpointError, match=r"talker.safetensors is missing"):
        open_stored(folder, TALKER_FILE, shapes)
    shutil.copy(whole / TALKER_FILE, file)
    with pytest.raises(CheckpointError, match=r"as config\.json has it"):
        open_stored(
            folder, TALKER_FILE, talker_shapes(read_spec(converted_qwen3("1.7b-base", "mlx-6")))
        )


def test_rows_that_do_not_divide_name_what_can_be_taken() -> None:
    with pytest.raises(
        ConvertError, match=r"rows of 96 values .* set the quant to mlx-f32, mlx-bf16"
    ):
        check_groups({"a.weight": (4, 96)}, AFFINE_MIXES["mlx-4"])
    assert stored_shapes({"a.weight": (4, 128)}, AFFINE_MIXES["mlx-4"]) == {
        "a.weight": ("U32", (4, 16)),
        "a.scales": ("BF16", (4, 2)),
        "a.biases": ("BF16", (4, 2)),
    }


def test_quants_know_their_names() -> None:
    assert Quants("mlx-6").talker == MlxWeights.of("mlx-6", None).talker
