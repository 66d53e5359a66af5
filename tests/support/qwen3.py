"""Tiny Qwen3-TTS checkpoints. What the library's own tests make of them is in their conftest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from s2s.testing.random_checkpoint import write_checkpoint


@pytest.fixture(scope="session")
def tiny_qwen3(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a tiny random Qwen3-TTS checkpoint by kind ("0.6b-base", ...), in the
    official layout; written once a session, always with the same bytes. Not to be changed."""

    @lru_cache
    def checkpoint(kind: str) -> Path:
        return write_checkpoint(tmp_path_factory.mktemp("qwen3") / kind, kind)

    return checkpoint
