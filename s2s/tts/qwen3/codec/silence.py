"""Which first codes of a frame stand for silence, for one speech tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from s2s.core.untyped import is_list
from s2s.system.whole_file import write_whole
from s2s.tts.qwen3.checkpoint.codec_shapes import encoder_shapes
from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.content_hash import codec_content_hash
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.voices.codec_encoder import OnnxCodecEncoder

_SILENCE_S = 2.0
_ROOM_TONE = 1e-4  # -80 dBFS
_SILENCE_FILE = "silence-{}.json"


def silent_codes(codec_folder: Path, spec: CodecSpec, cache: Path, threads: int) -> frozenset[int]:
    """The first codes that stand for silence: what digital silence and faint noise encode to.

    Computed once a tokenizer and kept in ``cache``: the encoder is large.
    """
    key = codec_content_hash(codec_folder)
    path = cache / _SILENCE_FILE.format(key)
    kept = _kept(path, spec.decoder.codebook_size)
    if kept:
        return kept
    weights = Checkpoint(codec_folder)
    weights.require(encoder_shapes(spec.encoder))
    encoder = OnnxCodecEncoder.open(spec.encoder, weights, cache, key, threads=threads)
    zeros = np.zeros(int(_SILENCE_S * spec.encoder.sample_rate_hz), np.float32)
    noise = np.random.Generator(np.random.PCG64(0)).standard_normal(zeros.size, np.float32)
    faint = noise * np.float32(_ROOM_TONE)
    found = np.unique([encoder.encode(zeros)[:, 0], encoder.encode(faint)[:, 0]]).tolist()
    cache.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(found))
    return frozenset(found)


def _kept(path: Path, codes: int) -> frozenset[int]:
    """What was found before; nothing where there is no such file, or a damaged one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    if not is_list(found):
        return frozenset()
    kept = [code for code in found if type(code) is int and 0 <= code < codes]
    return frozenset(kept) if len(kept) == len(found) else frozenset()
