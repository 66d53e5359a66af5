"""Without the extra `serve` there is no server to be tested; `wyoming` likewise."""

from __future__ import annotations

from tests.transport.server import conftest as serve
from tests.transport.wyoming import conftest as wyoming

collect_ignore_glob = [
    *serve.collect_ignore_glob,
    *(each.replace("test_", "test_wyoming") for each in wyoming.collect_ignore_glob),
]
