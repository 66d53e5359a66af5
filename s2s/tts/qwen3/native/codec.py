"""Codes to sound on the compiled kernel: the `CodecDecoder` port.

States go by the names of ``codec.tensors``: what this exports any other decoder restores. How it
is computed: docs/decisions/qwen3-codec-in-the-kernel.md.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import Tensors, transformer_state, upsampler_state
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale
from s2s.tts.qwen3.native.codec_transformer import CodecTransformer
from s2s.tts.qwen3.native.codec_upsampler import CodecUpsampler
from s2s.tts.qwen3.native.kept import Origin
from s2s.tts.qwen3.native.transformer import ThreadPool

MAX_FRAMES_A_RUN = 8
"""A longer call is cut into runs of this many frames: more would not make a frame cheaper, and the
kernel has memory for as many."""


class NativeCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread (calls wait for each other), a state from one at a time. Any split into calls and any
    number of threads give the same samples to the last bit."""

    def __init__(
        self,
        spec: CodecDecoderSpec,
        tensors: Tensors,
        pool: ThreadPool,
        origin: Origin | None = None,
    ) -> None:
        """Pack a checkpoint's tensors; ``pool`` computes. What is packed is kept for the next start
        as that of ``origin``, if that is given.

        Raises KernelError when memory runs out or the kernel cannot do it, CodecError for a tensor
        of another shape.
        """
        with ThreadPoolExecutor(1) as beside:
            transformer = beside.submit(
                CodecTransformer, pool, tensors, spec, frames=MAX_FRAMES_A_RUN, origin=origin
            )
            self._upsampler = CodecUpsampler(
                pool, tensors, spec, frames=MAX_FRAMES_A_RUN, origin=origin
            )
            self._transformer = transformer.result()
        of_transformer = transformer_state(spec, 0)
        self._names = [*of_transformer, *upsampler_state(spec)]
        self._of_transformer = len(of_transformer)
        super().__init__(spec)

    def _longest_run(self) -> int:
        return MAX_FRAMES_A_RUN

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        arrays = [state.arrays[name] for name in self._names]
        split = self._of_transformer
        latents, next_first = self._transformer.run(codes, state.position, arrays[:split])
        samples, next_rest = self._upsampler.run(
            latents, len(codes), state.position, arrays[split:], stale
        )
        state.arrays = dict(zip(self._names, [*next_first, *next_rest], strict=True))
        state.position += len(codes)
        return samples
