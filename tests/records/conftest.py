"""One record for all tests that only read it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from s2s.testing.simulator import Simulation
from tests.support.records import recorded


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Simulation]:
    """The folder of a record, to be read, and the conversation that it is of."""
    return recorded(tmp_path_factory.mktemp("records"))


@pytest.fixture
def own_record(held: tuple[Path, Simulation], tmp_path: Path) -> Path:
    """A copy of it, to be written to."""
    return Path(shutil.copytree(held[0], tmp_path / "record"))
