"""Checkpoints on disk: official, converted, GGUF, and where they come from.

The way in for what makes or reads such files without a model: scripts and benchmarks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, CodecSpec
    from s2s.tts.qwen3.checkpoint.gguf import GGUFFile, NewTensor, Value, write
    from s2s.tts.qwen3.checkpoint.gguf_weights import k_quantize
    from s2s.tts.qwen3.checkpoint.quant import TYPES, Bytes, TensorType, fitting, quantize
    from s2s.tts.qwen3.checkpoint.record import Record, read_record
    from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
    from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, read_json, read_spec

_NAMES = {
    "codec_spec": "CodecDecoderSpec CodecSpec",
    "record": "Record read_record",
    "gguf": "GGUFFile NewTensor Value write",
    "gguf_weights": "k_quantize",
    "quant": "TYPES Bytes TensorType fitting quantize",
    "safetensors": "Checkpoint",
    "spec": "DecoderSpec read_json read_spec",
}
"""Where each name comes from."""

__all__ = [
    "TYPES",
    "Bytes",
    "Checkpoint",
    "CodecDecoderSpec",
    "CodecSpec",
    "DecoderSpec",
    "GGUFFile",
    "NewTensor",
    "Record",
    "TensorType",
    "Value",
    "fitting",
    "k_quantize",
    "quantize",
    "read_json",
    "read_record",
    "read_spec",
    "write",
]


def __getattr__(name: str) -> object:
    """A name of ``__all__``, loaded when it is first used. Raises AttributeError for another."""
    for module, names in _NAMES.items():
        if name in names.split():
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"{__name__} has no {name!r}; it has {', '.join(__all__)}")
