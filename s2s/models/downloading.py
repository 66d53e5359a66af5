"""What all downloads share: whether they are allowed, how far they are, how they fail."""

from __future__ import annotations

import os
from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called as (what, bytes done, bytes in all) while something is fetched; 0 in all is unknown."""


class FetchError(RuntimeError):
    """A source that could not be used. The message says which and why."""


def silent(what: str, done_bytes: int, total_bytes: int) -> None:
    """A `Progress` that shows nothing."""


def offline() -> bool:
    """Whether `HF_HUB_OFFLINE` forbids every download, with the values the hub client takes."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}
