"""The kernel's driver without Python, built once for each way of building it; and what the tests of
the C interface share."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

import pytest

from s2s.tts.qwen3.native.library import load_kernel
from s2s.tts.qwen3.native.packed_model import pack_folder
from s2s.tts.qwen3.native.transformer import ThreadPool
from s2s.tts.qwen3.native.wheel import installed_library
from tests.tts.qwen3.native import c_interface
from tests.tts.qwen3.native.driver_builds import Build, Made, build, require


@pytest.fixture(scope="session")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where graphs are kept."""
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture(scope="session")
def packed(
    converted_qwen3: Callable[[str, str], Path],
    kernel_cache: Path,
    graphs: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    """Kind to the packed file of a tiny checkpoint. Not to be changed."""
    folder = tmp_path_factory.mktemp("packed")

    @lru_cache
    def make(kind: str) -> Path:
        path = folder / f"{kind}.s2s"
        pack_folder(converted_qwen3(kind, "q8_0"), path, ThreadPool(kernel_cache, 1), graphs)
        return path

    return make


@pytest.fixture(scope="session")
def library_path(kernel_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the wheel, or one with the C interface that is compiled on top of the
    kernel."""
    installed = installed_library()
    if installed is not None:
        return installed
    return c_interface.build_library(load_kernel(kernel_cache), tmp_path_factory.mktemp("speech"))


@pytest.fixture(scope="session")
def library(library_path: Path) -> ctypes.CDLL:
    """The same, with its functions declared."""
    return c_interface.load(library_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Makes the driver's program, once for each way of building it."""

    @cache
    def make(name: str) -> Path:
        return build(ways[name], tmp_path_factory.mktemp("driver"))

    ways: dict[str, Build] = {}

    def program(way: Build) -> Path:
        require(way)
        ways[repr(way)] = way
        return make(repr(way))

    return program
