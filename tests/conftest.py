"""What more than one test file needs. No test downloads anything: models come from the cache."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import settings

from s2s.runtime import Resources
from s2s.store import Store

SCRIPTS = Path(__file__).parents[1] / "scripts"

settings.register_profile("s2s", derandomize=True, deadline=None)
settings.load_profile("s2s")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-models", action="store_true", help="fail, not skip, where a model is missing"
    )


def pytest_configure() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `models` needs the embedded models, and those named in the mark."""
    marker = item.get_closest_marker("models")
    if marker is None:
        return
    if lacking := missing_models("embedded", *marker.args):
        report = pytest.fail if item.config.getoption("--require-models") else pytest.skip
        report(f"python -m s2s models pull {' '.join(lacking)}")


@lru_cache
def missing_models(*names: str) -> tuple[str, ...]:
    """The models of these names and groups that are not whole in the cache."""
    store = Store()
    return tuple(model.name for model in store.select(names) if store.state(model) != "present")


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


@pytest.fixture(scope="session")
def resources() -> Resources:
    """What a backend is given: the real store, one thread."""
    return Resources(Store(), threads=1)
