"""What a backend is given besides its own options: where models are, and its share of threads."""

from __future__ import annotations

from dataclasses import dataclass, field

from s2s.core.work import Compute
from s2s.models.store import Store
from s2s.system.compute import shared


@dataclass(frozen=True, slots=True)
class Resources:
    """What a backend is given besides its own config: `Backend(config, resources)`."""

    store: Store
    threads: int = 1
    """Threads this backend may use."""
    compute: Compute = field(default_factory=shared)
    """Says how many of them at any moment."""
    words: tuple[str, ...] = ()
    """Names and words that a recogniser is to know (`stt.words`)."""
