"""Tiny checkpoints as the backends load them, and the compiled kernel."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native.compiling import SOURCES, find_compiler, levels, plan
from s2s.tts.qwen3.native.library import KernelLibrary, load_kernel, require_kernel
from s2s.tts.qwen3.native.wheel import installed_library


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
    """A folder for the kernel of the Qwen3-TTS decoders, compiled there if it is not installed;
    skips where there is neither the wheel nor a C compiler."""
    try:
        require_kernel()
    except KernelError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("kernel")
    load_kernel(folder)
    return folder


@pytest.fixture(scope="session")
def executed_levels(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The levels of the kernel that this processor executes, as the kernel finds out."""
    library = installed_library()
    if library is None:
        library = tmp_path_factory.mktemp("dispatch") / "dispatch.so"
        command = [*find_compiler(), "-DS2S_ALL_LEVELS", "-shared", "-fPIC", SOURCES / "dispatch.c"]
        subprocess.run([*command, "-o", library], check=True)
    dispatch = KernelLibrary(library)
    return [level for level in levels() if dispatch.s2s_kernel_executes(level.encode())]


@pytest.fixture(scope="session")
def leveled_kernel(
    executed_levels: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """A level to a kernel that has it, the installed one or one compiled for it; skips for a level
    that this processor does not execute."""
    folder = tmp_path_factory.mktemp("levels")

    @lru_cache
    def make(level: str) -> Path:
        if level not in executed_levels:
            pytest.skip(f"this processor does not execute {level}")
        return installed_library() or plan(folder, level).library()

    return make
