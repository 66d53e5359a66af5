"""The codec decoder of a tiny checkpoint, and the codes that the official package decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.onnx.codec import OnnxCodecDecoder
from tests.support.qwen3_golden import DATA

GOLDEN_CODEC = DATA / "codec_decoder.npz"


def open_codec(folder: Path, cache: Path, *, threads: int = 1) -> OnnxCodecDecoder:
    """The decoder of the speech tokenizer in `folder`, its graphs kept in `cache`."""
    spec = CodecSpec.from_config(read_json(folder / "config.json"))
    return OnnxCodecDecoder.open(spec.decoder, Checkpoint(folder), cache, "tiny", threads=threads)


def golden_codes() -> np.ndarray:
    """int64 [frames, groups]"""
    with np.load(GOLDEN_CODEC) as golden:
        return golden["codes"].astype(np.int64)
