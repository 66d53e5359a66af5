"""Fixtures that more than one test file needs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture(scope="session")
def tiny_qwen3(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a tiny random Qwen3-TTS checkpoint by kind ("0.6b-base", ...), in the
    official layout; written once a session, always with the same bytes. Not to be changed."""
    path = SCRIPTS / "make_random_qwen3.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = script  # dataclasses look their module up
    spec.loader.exec_module(script)

    @lru_cache
    def checkpoint(kind: str) -> Path:
        return script.write_checkpoint(tmp_path_factory.mktemp("qwen3") / kind, kind)

    return checkpoint
