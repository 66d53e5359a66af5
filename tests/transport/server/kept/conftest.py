"""Without the extra `serve` there is no server to be tested."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("starlette", "uvicorn", "websockets", "redis", "fakeredis")

collect_ignore_glob = [] if all(find_spec(name) for name in NEEDED) else ["test_*.py"]
