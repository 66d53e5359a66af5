"""The codec decoder of a checkpoint, on whatever is to compute it."""

from __future__ import annotations

from pathlib import Path

from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.fingerprint import codec_fingerprint
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.native.codec import NativeCodecDecoder
from s2s.tts.qwen3.native.transformer import Team
from s2s.tts.qwen3.onnx.codec import CPU, OnnxCodecDecoder

NATIVE = "native"


def open_decoder(
    folder: Path, cache: Path, *, threads: int = 1, device: str = CPU, kernels: Path | None = None
) -> CheckpointDecoder:
    """The decoder of a speech tokenizer folder (config.json, model.safetensors).

    Graphs are built on first use and kept in ``cache``.
    device: "cpu"; or an accelerator of onnxruntime by its short name ("cuda", "coreml", ...); or
    "native", the processor with the compiled kernel, which is kept in ``kernels`` (default: in
    ``cache``).
    Raises CodecError, CheckpointError or SpecError for a folder that cannot be used, and
    KernelError when there is no compiler.
    """
    spec = CodecSpec.from_config(read_json(folder / "config.json")).decoder
    key, tensors = codec_fingerprint(folder), Checkpoint(folder)
    if device == NATIVE:
        return NativeCodecDecoder(spec, tensors, Team(kernels or cache, threads))
    return OnnxCodecDecoder.open(spec, tensors, cache, key, threads=threads, device=device)
