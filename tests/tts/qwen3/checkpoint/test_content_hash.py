"""Content hashes tell checkpoints, and what was made from them, apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.content_hash import content_hash, voice_content_hash

Tiny = Callable[[str], Path]


def test_content_hashes_follow_content(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    content = np.random.default_rng(0).bytes(3 << 20)
    first.write_bytes(content)
    second.write_bytes(content)
    assert content_hash(first) == content_hash(second)
    assert content_hash(first, second) != content_hash(first)
    for changed in (content[:-1], content + b"x", bytes(len(content))):
        second.write_bytes(changed)
        assert content_hash(first) != content_hash(second)


def test_models_that_make_other_voices_differ(tiny_qwen3: Tiny) -> None:
    small, large = tiny_qwen3("0.6b-base"), tiny_qwen3("1.7b-base")
    assert voice_content_hash(small) == voice_content_hash(small)
    assert voice_content_hash(small) != voice_content_hash(large)
