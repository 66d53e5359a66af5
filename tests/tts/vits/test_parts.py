"""A voice as two graphs: what goes in and comes out of each."""

from __future__ import annotations

import pytest

from s2s.models.onnx_file import (
    INT64,
    read_model,
)
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.parts import AUDIO, adopt_pair, cut_voice
from tests.support.vits import VOICES


def test_a_pair_that_does_not_fit_is_refused() -> None:
    encoder = read_model(VOICES / "pair/encoder.onnx")
    decoder = read_model(VOICES / "pair/decoder.onnx")
    encoder.outputs = [value for value in encoder.outputs if value.name != "z"]
    with pytest.raises(CutError, match="the decoder wants 'z'"):
        adopt_pair(encoder, decoder)
    decoder.inputs = [value for value in decoder.inputs if value.name != "z"]
    with pytest.raises(CutError, match="no latent input"):
        adopt_pair(encoder, decoder)


def test_speakers_by_number_reach_the_decoder() -> None:
    parts = cut_voice(read_model(VOICES / "speakers.onnx"), "latent")
    assert [value.name for value in parts.decoder.inputs] == ["latent", "speaker_embedding"]
    assert ("speaker", INT64) in [(v.name, v.item_type) for v in parts.encoder.inputs]


@pytest.mark.parametrize("cut", ["before_flow", "latent"])
def test_inputs_have_the_same_names_whatever_the_voice(cut: str) -> None:
    moving = {"before_flow": {"mean", "log_std", "noise"}, "latent": {"latent"}}[cut]
    for name in ("plain", "speakers", "coarse"):
        parts = cut_voice(read_model(VOICES / f"{name}.onnx"), cut)  # type: ignore[arg-type]
        assert set(parts.moving) == moving
        assert set(parts.moving.values()) == {parts.channels}
        inputs = {value.name for value in parts.decoder.inputs}
        assert moving <= inputs
        assert (parts.mask in inputs) == (parts.mask is not None)
        assert {"ids", "scales"} <= {value.name for value in parts.encoder.inputs}
        assert [value.name for value in parts.decoder.outputs] == [AUDIO]


def test_a_pair_that_was_cut_elsewhere_has_our_names() -> None:
    parts = adopt_pair(
        read_model(VOICES / "pair/encoder.onnx"), read_model(VOICES / "pair/decoder.onnx")
    )
    assert (parts.cut, set(parts.moving)) == ("latent", {"latent"})
    assert "latent" in [value.name for value in parts.encoder.outputs]
    context, hop = parts.receptive_field()
    assert (context.left, hop) == (10, 8)
