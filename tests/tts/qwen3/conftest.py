"""Tiny checkpoints as the backends load them, and the compiled kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native.library import find_compiler, load_kernel


@pytest.fixture(scope="session")
def converted_qwen3(
    tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], Path]:
    """Kind and quant to the folder of a converted tiny Qwen3-TTS checkpoint. Not to be changed."""
    converted = tmp_path_factory.mktemp("converted")

    @lru_cache
    def make(kind: str, quant: str) -> Path:
        return convert(tiny_qwen3(kind), quant, converted=converted)

    return make


@pytest.fixture(scope="session")
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled kernel of the Qwen3-TTS decoders; skips where there is no C
    compiler."""
    try:
        find_compiler()
    except KernelError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("kernel")
    load_kernel(folder)
    return folder
