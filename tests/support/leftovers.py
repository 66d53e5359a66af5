"""What a test file leaves open is found at its end.

A file or a socket without an owner warns when it is collected, and in tests a warning is an error.
When Python collects depends on what ran before; here it is at the end of each file.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left_open() -> Iterator[None]:
    """What remains belongs to the session or to a library, and is not looked through again: that
    would take most of the time of a short file."""
    yield
    gc.collect()
    gc.freeze()
