"""Without the extra `serve` there is no server to be tested."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from starlette.testclient import TestClient

NEEDED = ("starlette", "uvicorn", "websockets", "multipart", "cryptography", "segno")

collect_ignore_glob = (
    [] if all(find_spec(name) for name in NEEDED) else ["test_*.py", "audio_api/test_*.py"]
)


@pytest.fixture
def http() -> Iterator[TestClient]:
    """A client of a server of fakes."""
    from tests.support.http import client

    with client() as made:
        yield made
