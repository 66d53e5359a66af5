"""Without the extra `serve` there is nothing to be served by several processes."""

from __future__ import annotations

from tests.transport.server import conftest as serve

collect_ignore_glob = [each for each in serve.collect_ignore_glob if each == "test_*.py"]
