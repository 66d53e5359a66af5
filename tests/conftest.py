"""Settings of all tests. No test downloads anything: models come from the cache.

What several test files need is in tests/support, by subject; what makes the files of tests/data is
there too, as scripts named `make_*`.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest_plugins = (
    "tests.support.models",
    "tests.support.qwen3",
    "tests.support.recordings",
    "tests.support.server",
    "tests.support.sound_server",
)

settings.register_profile("s2s", derandomize=True, deadline=None)
settings.load_profile("s2s")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-models", action="store_true", help="fail, not skip, where a model is missing"
    )
    parser.addoption(
        "--require",
        action="append",
        default=[],
        metavar="MARK",
        help="run the tests of this mark, and fail where what they need is missing: pulse",
    )


def pytest_configure() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
