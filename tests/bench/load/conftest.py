"""Without the extra `serve` there is no server to be loaded."""

from __future__ import annotations

from tests.transport.server.conftest import collect_ignore_glob

__all__ = ["collect_ignore_glob"]
