"""Configs and tensors of random checkpoints: of the official layout, and of their sizes."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from s2s.testing.random_tensors import (
    GROUPS,
    KINDS,
    codec_config,
    codec_decoder_tensors,
    codec_encoder_tensors,
    conv,
    linear,
    main_tensors,
    model_config,
    norm,
)


@pytest.mark.parametrize("tiny", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_tensor_has_a_name_of_its_own_and_a_scale(kind: str, tiny: bool) -> None:
    made = list(main_tensors(model_config(kind, tiny, 151_643)))
    assert len({tensor.name for tensor in made}) == len(made)
    assert all(tensor.scale >= 0 and prod(tensor.shape) > 0 for tensor in made)
    heads = [tensor for tensor in made if ".lm_head." in tensor.name]
    assert len(heads) == GROUPS - 1
    assert any("speaker_encoder" in tensor.name for tensor in made) == kind.endswith("-base")


@pytest.mark.parametrize(
    ("kind", "parameters"), [("0.6b-base", (0.5e9, 1.2e9)), ("1.7b-base", (1.5e9, 2.4e9))]
)
def test_full_size_is_as_large_as_its_name_says(kind: str, parameters: tuple[float, float]) -> None:
    made = main_tensors(model_config(kind, tiny=False, first_special=151_643))
    assert parameters[0] < sum(prod(tensor.shape) for tensor in made) < parameters[1]


@pytest.mark.parametrize("tiny", [True, False])
def test_the_codec_has_a_codebook_for_each_code_of_a_frame(tiny: bool) -> None:
    config = codec_config(tiny)
    for part, tensors in (("decoder", codec_decoder_tensors), ("encoder", codec_encoder_tensors)):
        inner = config[f"{part}_config"]
        names = [tensor.name for tensor in tensors(inner)]
        assert len(set(names)) == len(names)
        assert sum(name.endswith("cluster_usage") for name in names) == inner["num_quantizers"]


def test_a_matrix_keeps_the_variance_of_its_input() -> None:
    weight, bias = linear("x", 3, 400, bias=True)
    assert weight.scale == pytest.approx(1 / np.sqrt(400))
    assert (weight.name, bias.name, bias.shape) == ("x.weight", "x.bias", (3,))
    kernel, _ = conv("c", 3, 100, 4)
    assert kernel.scale == pytest.approx(1 / np.sqrt(400))
    (scale,) = norm("n", 5)
    assert scale.mean == 1.0
