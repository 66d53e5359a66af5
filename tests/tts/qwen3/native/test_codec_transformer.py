"""The codec's pre-transformer on the kernel: the same latents however it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.codec.tensors import transformer_state
from s2s.tts.qwen3.native.codec_transformer import CodecTransformer
from s2s.tts.qwen3.native.transformer import ThreadPool

FRAMES = 8


@dataclass
class Rig:
    spec: CodecDecoderSpec
    tensors: Checkpoint
    cache: Path

    def transformer(self, threads: int = 1) -> CodecTransformer:
        pool = ThreadPool(self.cache, threads)
        return CodecTransformer(pool, self.tensors, self.spec, frames=FRAMES)

    def latents(self, sizes: list[int], threads: int = 1) -> np.ndarray:
        """Of always the same codes, in calls of so many frames."""
        made, at, parts = self.transformer(threads), 0, []
        state = [np.zeros(shape, np.float32) for shape in transformer_state(self.spec, 0).values()]
        codes = np.random.default_rng(0).integers(
            0, self.spec.codebook_size, (sum(sizes), self.spec.code_groups)
        )
        for size in sizes:
            latents, state = made.run(codes[at : at + size], at, state)
            parts.append(latents)
            at += size
            shapes = transformer_state(self.spec, at).values()
            assert [array.shape for array in state] == list(shapes)
        return np.concatenate(parts)


@pytest.fixture(scope="module")
def rig(tiny_qwen3: Callable[[str], Path], kernel_cache: Path) -> Rig:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    return Rig(read_codec_spec(folder).decoder, Checkpoint(folder), kernel_cache)


@pytest.mark.parametrize("sizes", [[1] * 12, [5, 7], [8, 1, 3], [2, 8, 2]])
def test_splits_and_threads_change_no_bit(rig: Rig, sizes: list[int]) -> None:
    whole = rig.latents([8, 4])
    assert np.isfinite(whole).all()
    assert whole.std() > 0.01
    np.testing.assert_array_equal(rig.latents(sizes), whole)
    np.testing.assert_array_equal(rig.latents(sizes, threads=2), whole)


def test_each_frame_gives_its_steps_of_the_latent(rig: Rig) -> None:
    steps = int(np.prod(rig.spec.upsampling_ratios))
    assert rig.latents([3]).shape == (3 * steps, rig.spec.latent_dim)
