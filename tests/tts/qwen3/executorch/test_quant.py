"""The quantisations of ExecuTorch's core."""

from __future__ import annotations

from s2s.tts.qwen3.executorch.delegates import DELEGATES
from s2s.tts.qwen3.executorch.quant import (
    EXPORT_MIXES,
    export_quant,
    head_mix,
    predictor_default,
)


def test_a_name_says_the_bits_or_the_delegate() -> None:
    assert list(EXPORT_MIXES) == ["et-f32", "et-8", "et-4", "et-coreml", "et-qnn", "et-cuda"]
    assert [mix.bits for mix in EXPORT_MIXES.values()] == [32, 8, 4, 32, 32, 32]
    assert {mix.delegate for mix in EXPORT_MIXES.values()} == set(DELEGATES)


def test_the_predictor_and_heads_have_eight_bits_or_more() -> None:
    found = {name: predictor_default(mix).name for name, mix in EXPORT_MIXES.items()}
    assert found["et-4"] == found["et-8"] == "et-8"
    assert all(found[name] == name for name in found if EXPORT_MIXES[name].whole)
    assert {name: head_mix(mix).name for name, mix in EXPORT_MIXES.items()} == found


def test_bytes_are_weights_and_scales() -> None:
    sizes = [EXPORT_MIXES[name].nbytes(10, 64) for name in ("et-f32", "et-8", "et-4")]
    assert sizes == [2560, 640 + 40, 320 + 80]


def test_a_delegates_files_go_by_its_name() -> None:
    assert export_quant("et-4", "xnnpack") == "et-4"
    assert export_quant("et-8", "qnn") == "et-qnn"
