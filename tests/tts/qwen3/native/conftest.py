"""The kernel's driver without Python, built once for each way of building it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.tts.qwen3.native.driver_builds import Build, Made, build, require


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
