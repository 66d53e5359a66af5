"""Settings of all tests. No test downloads anything: models come from the cache.

What several test files need is in tests/support, by subject; what makes the files of tests/data is
there too, as scripts named `make_*`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from hypothesis import HealthCheck, settings

pytest_plugins = (
    "tests.support.browser",
    "tests.support.compiled_once",
    "tests.support.fake_realtime",
    "tests.support.leftovers",
    "tests.support.llama_server",
    "tests.support.local_hub",
    "tests.support.models",
    "tests.support.program",
    "tests.support.qwen3",
    "tests.support.recordings",
    "tests.support.requirements",
    "tests.support.real_server",
    "tests.support.server",
    "tests.support.sound_server",
    "tests.support.wheels",
)

# No outcome depends on how busy the machine is: hypothesis' own limits of time are off.
settings.register_profile(
    "s2s", derandomize=True, deadline=None, suppress_health_check=(HealthCheck.too_slow,)
)
settings.load_profile("s2s")


def settings_in(environment: Mapping[str, str]) -> list[str]:
    """Variables by which whoever runs the tests sets the program; where its files lie stays."""
    return [name for name in environment if name.startswith("S2S_") and name != "S2S_HOME"]


def pytest_configure() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    for name in settings_in(os.environ):
        del os.environ[name]
