"""Without the extras `serve` and `webrtc` there are no calls to be tested."""

from __future__ import annotations

from importlib.util import find_spec

from tests.transport.server import conftest as serve

collect_ignore_glob = serve.collect_ignore_glob if find_spec("aiortc") else ["test_*.py"]
