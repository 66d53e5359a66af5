"""Tells one checkpoint from another in milliseconds, so that what was made from it can be kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint

_DIGITS = 16
_SPEAKER = "speaker_encoder."
_SAMPLE_BYTES = 4096
_STRIDE_BYTES = 1 << 20
_HEADER_LIMIT_BYTES = 100_000_000


def content_hash(*files: Path) -> str:
    """16 hexadecimal digits for the contents of ``files``, in order.

    Of a file its size, its safetensors header if it has one, and 4 KB of every megabyte count:
    training changes all weights, so a full read of gigabytes would tell no more.
    Raises OSError when a file cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(size.to_bytes(8, "little"))
        with path.open("rb") as file:
            header = int.from_bytes(file.read(8), "little")
            if header <= min(size, _HEADER_LIMIT_BYTES):
                digest.update(file.read(header))
            for start in range(0, size, _STRIDE_BYTES):
                file.seek(start)
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:_DIGITS]


def voice_content_hash(folder: Path) -> str:
    """16 hexadecimal digits for the parts of a checkpoint folder that make voices: its speaker
    encoder and its codec. Conversion of the language model does not change them.

    Raises CheckpointError when the weights cannot be read, OSError when files are missing.
    """
    weights = Checkpoint(folder)
    digest = hashlib.sha256(codec_content_hash(folder / "speech_tokenizer").encode())
    for name in sorted(name for name in weights.names if name.startswith(_SPEAKER)):
        digest.update(name.encode())
        digest.update(weights.load(name).tobytes())
    return digest.hexdigest()[:_DIGITS]


def codec_content_hash(folder: Path) -> str:
    """Of a speech tokenizer folder: what a graph must have been made of to be used for it."""
    return content_hash(folder / "config.json", folder / "model.safetensors")
