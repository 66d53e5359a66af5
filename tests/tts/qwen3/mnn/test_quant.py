"""MNN's quantisations."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.mnn.quant import MNN_MIXES, predictor_default


@pytest.mark.parametrize(
    ("name", "words", "nbytes"),
    [
        ("mnn-f32", "", 4 * 2 * 128),
        ("mnn-8", "--weightQuantBits 8 --weightQuantBlock 64 --weightQuantAsymmetric", 2 * 144),
        ("mnn-4", "--weightQuantBits 4 --weightQuantBlock 64 --weightQuantAsymmetric", 2 * 80),
        ("mnn-4-32", "--weightQuantBits 4 --weightQuantBlock 32 --weightQuantAsymmetric", 2 * 96),
    ],
)
def test_what_the_converter_is_told(name: str, words: str, nbytes: int) -> None:
    mix = MNN_MIXES[name]
    assert " ".join(mix.arguments) == words
    assert mix.nbytes(2, 128) == nbytes


def test_the_predictor_never_has_less_than_eight_bits() -> None:
    usual = {name: predictor_default(mix).name for name, mix in MNN_MIXES.items()}
    assert usual == {
        "mnn-f32": "mnn-f32", "mnn-8": "mnn-8", "mnn-4": "mnn-8", "mnn-4-32": "mnn-8",
    }  # fmt: skip
