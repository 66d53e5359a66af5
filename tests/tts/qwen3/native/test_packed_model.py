"""What of a converted model is packed for programs in C. That C finds in it what Python does:
test_speech.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native.packed_model import pack_folder
from s2s.tts.qwen3.native.transformer import ThreadPool
from tests.tts.qwen3.native.packed_files import entries

Converted = Callable[[str, str], Path]


def ints(path: Path, name: str) -> list[int]:
    content = path.read_bytes()
    (entry,) = (entry for entry in entries(content) if entry.name == name)
    return np.frombuffer(content[entry.offset :][: entry.size], np.int32).tolist()


@pytest.mark.parametrize("kind", ["0.6b-customvoice", "1.7b-voicedesign"])
def test_numbers_are_those_of_the_config(
    kind: str, packed: Callable[[str], Path], converted_qwen3: Converted
) -> None:
    spec, path = read_spec(converted_qwen3(kind, "q8_0")), packed(kind)
    numbers = ints(path, "model")
    assert numbers[2:7] == [
        spec.groups, spec.codes, spec.talker.vocabulary, spec.text_vocabulary,
        spec.talker.max_positions,
    ]  # fmt: skip
    assert numbers[12:15] == [spec.ids.bos, spec.ids.eos, spec.ids.think]
    assert ints(path, "talker.shape")[0] == spec.talker.hidden
    names = {entry.name for entry in entries(path.read_bytes())}
    assert ("inputs" in names) == ("projection.bias" in names) == spec.projected
    assert len(ints(path, "speakers.ids")) == len(spec.speakers)


@pytest.mark.ggml
def test_four_bits_stay_four(
    converted_qwen3: Converted, kernel_cache: Path, graphs: Path, tmp_path: Path
) -> None:
    folder = converted_qwen3("0.6b-customvoice", "q4_k_m")
    pack_folder(folder, tmp_path / "packed", ThreadPool(kernel_cache, 1), graphs)
    assert set(ints(tmp_path / "packed", "talker.bits")) == {4, 8}
    assert set(ints(tmp_path / "packed", "predictor.bits")) == {8}


def test_what_the_kernel_does_not_compute_is_not_packed(
    converted_qwen3: Converted, kernel_cache: Path, graphs: Path, tmp_path: Path
) -> None:
    folder = converted_qwen3("0.6b-customvoice", "f32")
    with pytest.raises(KernelError, match="take q8_0"):
        pack_folder(folder, tmp_path / "packed", ThreadPool(kernel_cache, 1), graphs)
    assert not list(tmp_path.iterdir())
