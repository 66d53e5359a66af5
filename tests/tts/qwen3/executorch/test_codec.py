"""The codec decoder on ExecuTorch: what it carries along always, and its sound in ExecuTorch itself
against the official package, and against itself under every split (`codec_qwen3_executorch.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.system.intact import seal
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.codec.tensors import state_shapes
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.executorch import codec as codec_module
from s2s.tts.qwen3.executorch.codec import ExecutorchCodecDecoder, TokenizerSource, exported_codec
from s2s.tts.qwen3.executorch.codec_graph import wave_state
from s2s.tts.qwen3.interfaces import Floats, Stopped
from tests.support.other_voices import check_voice
from tests.tts.qwen3.executorch.in_executorch import in_executorch
from tests.tts.qwen3.executorch.plain_program import PlainProgram

CHECKS = {
    "it is ExecuTorch's", "official sound", "split 1", "split 73", "split 590", "split 25",
    "split 8", "any split 0", "any split 1", "any split 2", "a primed voice goes on",
    "a cold one does not", "streams at once", "another decoder's state", "stopped",
    "asked before every piece", "stopped at random, nothing is left", "closed",
}  # fmt: skip


@pytest.mark.executorch
@pytest.mark.timeout(2400)
def test_it_decodes_as_the_official_package_does(tmp_path: Path) -> None:
    assert check_voice(in_executorch("codec"), tmp_path) == dict.fromkeys(CHECKS, True)


class PlainCodec(PlainProgram):
    """Rows are means of what a frame sees; the sound is a row's first value and what is carried."""

    def __init__(self, spec: CodecDecoderSpec) -> None:
        super().__init__()
        self._spec = spec

    def computed(self, name: str, inputs: list[Floats]) -> list[Floats]:
        spec = self._spec
        if name == "wave":
            row, *arrays = inputs
            samples = np.full((spec.samples_per_frame, 1), row[0, 0] + arrays[0].sum(), np.float32)
            return [samples, *(0.5 * each + row[0, 0] for each in arrays)]
        taps, cosine, _, before, new, *caches = inputs
        own = np.repeat(taps.mean(1)[None, :, None], spec.heads, 0) * cosine[None, :, 0]
        seen = (np.concatenate([before, new], 1) == 0).astype(np.float32)
        keys = np.concatenate([caches[0].swapaxes(1, 2), own], 1)
        values = np.concatenate([caches[1], own], 1)
        mixed = (seen @ keys + seen @ values).mean((0, 2)) / seen.sum(1)
        rows = np.repeat(mixed[:, None], spec.hidden_size, 1)
        return [rows, *[own] * 2 * spec.layers]


@pytest.fixture
def tokenizer(tiny_qwen3: Callable[[str], Path]) -> TokenizerSource:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    return TokenizerSource(read_codec_spec(folder).decoder, Checkpoint(folder), "tiny")


@pytest.fixture
def decoder(tokenizer: TokenizerSource, monkeypatch: pytest.MonkeyPatch) -> ExecutorchCodecDecoder:
    monkeypatch.setattr(codec_module, "Program", lambda *_: PlainCodec(tokenizer.spec))
    return ExecutorchCodecDecoder(tokenizer.spec, tokenizer.tensors, Path("codec.pte"))


def codes_of(count: int, spec: CodecDecoderSpec) -> np.ndarray:
    random = np.random.default_rng(5)
    return random.integers(0, spec.codebook_size, (count, spec.code_groups))


def test_every_split_carries_the_same_along(
    decoder: ExecutorchCodecDecoder, tokenizer: TokenizerSource
) -> None:
    """Past the window of 72 frames; a frame that sees too much or too little would differ."""
    spec = tokenizer.spec
    codes = codes_of(100, spec)
    whole = decoder.decode(decoder.new_state(), codes)
    state, parts, start = decoder.new_state(), [], 0
    for size in (1, 2, 3, 8, 20, 40, 26):
        parts.append(decoder.decode(state, codes[start : start + size]))
        start += size
        shapes = {name: array.shape for name, array in state.arrays.items()}
        assert shapes == state_shapes(spec, start)
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-4, rtol=1e-5)
    taken = decoder.restore(decoder.export(state), state.position)
    assert taken.position == 100
    late = decoder.decode(decoder.new_state(), codes[80:])
    assert np.abs(late - whole[80 * spec.samples_per_frame :]).max() > 1e-3


def test_it_is_asked_before_every_frame_and_a_stopped_state_has_not_moved(
    decoder: ExecutorchCodecDecoder, tokenizer: TokenizerSource
) -> None:
    codes, asked = codes_of(8, tokenizer.spec), list[int]()
    decoder.decode(decoder.new_state(), codes, lambda: bool(asked.append(1)))
    assert len(asked) == 9
    for most in range(9):
        asked.clear()
        state = decoder.new_state()
        before = decoder.export(state)
        with pytest.raises(Stopped):
            decoder.decode(state, codes, lambda most=most: len(asked) >= most or asked.append(1))
        assert state.position == 0
        for name, array in decoder.export(state).items():
            np.testing.assert_array_equal(array, before[name])


def test_what_is_carried_has_the_names_of_all_codecs(tokenizer: TokenizerSource) -> None:
    shapes = state_shapes(tokenizer.spec, 0)
    assert {name: shapes[name] for name in wave_state(tokenizer.spec)} == wave_state(tokenizer.spec)


def test_a_program_that_is_there_is_not_exported_again(
    tokenizer: TokenizerSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "codec_decoder-tiny-xnnpack-v1"
    made.mkdir()
    (made / "codec.pte").write_bytes(b"program")
    seal(made)

    def lacking() -> None:
        raise BackendError("an export needs executorch")

    monkeypatch.setattr(codec_module, "require_exporter", lacking)
    assert exported_codec(tokenizer, tmp_path) == made / "codec.pte"
    with pytest.raises(BackendError, match="needs executorch"):
        exported_codec(tokenizer, tmp_path, "coreml")
    (made / "codec.pte").write_bytes(b"damaged")
    with pytest.raises(BackendError, match="needs executorch"):
        exported_codec(tokenizer, tmp_path)
    with pytest.raises(BackendError, match="no delegate 'tpu'"):
        exported_codec(tokenizer, tmp_path, "tpu")
    assert [each.name for each in tmp_path.iterdir()] == [made.name]
