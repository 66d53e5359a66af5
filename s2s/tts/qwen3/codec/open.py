"""The codec decoder of a checkpoint, on whatever is to compute it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.backend import CodecJob
from s2s.tts.qwen3.backends import BACKENDS, cards_of_onnxruntime, codec_placement
from s2s.tts.qwen3.checkpoint.codec_shapes import decoder_shapes
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import codec_content_hash
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder


def open_decoder(
    folder: Path,
    cache: Path,
    *,
    threads: int = 1,
    placement: str = "onnx",
    kernels: Path | None = None,
) -> CheckpointDecoder:
    """The decoder of a speech tokenizer folder (config.json, model.safetensors).

    Graphs are built on first use and kept in ``cache``, a compiled kernel in ``kernels`` (default:
    in ``cache``). placement: see `codec_placement`.
    Raises Qwen3Error: CodecError, CheckpointError or SpecError for a folder that cannot be used,
    BackendError for what cannot decode here.
    """
    where = codec_placement(placement)
    spec, tensors = read_codec_spec(folder).decoder, Checkpoint(folder)
    tensors.require(decoder_shapes(spec))
    job = CodecJob(
        spec=spec,
        tensors=tensors,
        content_hash=codec_content_hash(folder),
        device=where.device,
        threads=threads,
        graphs=cache,
        kernels=kernels or cache,
    )
    return where.codec.open(job)


def codecs_here() -> list[str]:
    """The codecs that can be had on this machine, likeliest fastest first: one on a graphics card
    that ONNX Runtime computes on comes before all others."""
    able = [backend for backend in BACKENDS if backend.by_itself]
    names = [b.name for b in able if b.codec is not None and b.codec.missing() is None]
    return [*cards_of_onnxruntime(), *names]


def codec_here(measured: Mapping[str, float]) -> str:
    """The fastest codec by milliseconds a frame, where all were measured; else the first there
    is."""
    able = codecs_here()
    return min(able, key=lambda name: measured[name]) if set(able) <= set(measured) else able[0]


@dataclass(frozen=True, slots=True)
class OpenedCodec:
    """A decoder, where it computes, and why not on a graphics card that there is, else ""."""

    decoder: CheckpointDecoder
    placement: str
    refused: str = ""


def opened_here(
    measured: Mapping[str, float], opened: Callable[[str], CheckpointDecoder]
) -> OpenedCodec:
    """`codec_here`, opened by ``opened``; one on a graphics card that cannot take its graphs gives
    way to the first that needs no card: on the processor its graphs are slower than that."""
    name = codec_here(measured)
    decoder = opened(name)
    refused = decoder.remark
    if not refused:
        return OpenedCodec(decoder, name)
    others = [other for other in codecs_here() if other not in cards_of_onnxruntime()]
    return OpenedCodec(opened(others[0]), others[0], refused)
