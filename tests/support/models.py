"""Models that tests load: those of the cache, never fetched."""

from __future__ import annotations

from functools import lru_cache

import pytest

from s2s.models.resources import Resources
from s2s.models.store import Store


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
def resources() -> Resources:
    """What a backend is given: the real store, one thread."""
    return Resources(Store(), threads=1)
