"""How the threads of a machine are shared between language model and codec."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import device_placement
from s2s.tts.qwen3.opening import Opening


def opening(source: str | Path, home: Path, threads: int) -> Opening:
    return Opening(source, home, Quants("q8_0"), threads)


@pytest.mark.parametrize(
    ("threads", "overlapped", "language", "codec"),
    [(1, False, 1, 1), (2, False, 2, 2), (3, False, 3, 3), (4, True, 2, 2), (7, True, 4, 3)],
)
def test_few_threads_take_turns_and_many_are_shared_out(
    threads: int, overlapped: bool, language: int, codec: int, tmp_path: Path
) -> None:
    found = opening("m", tmp_path, threads)
    assert found.overlapped is overlapped
    assert (found.language_threads, found.codec_threads) == (language, codec)


def test_measurements_of_other_models_and_threads_are_others(tmp_path: Path) -> None:
    keys = {opening(source, tmp_path, n).language_key for source in "ab" for n in (1, 2)}
    assert len(keys) == 4
    assert opening("a", tmp_path, 2).codec_key == opening("b", tmp_path, 2).codec_key


def test_both_parts_of_a_checkpoint_are_opened(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    found = opening(tiny_qwen3("0.6b-base"), tmp_path, 1)
    place = device_placement("onnx")
    loaded = found.language((place, place))
    assert loaded.language.spec.groups == 16
    assert found.decoder(tiny_qwen3("0.6b-base"), "onnx").code_groups == 16
    assert any(tmp_path.rglob("*.onnx"))
