"""How long a test waits for what must happen: for other threads, processes and servers of its own.

A test that works never waits that long, whatever else the machine does; one that is broken fails
instead of hanging. What must *not* happen within a time is never shown by waiting: such a test
would depend on the machine.
"""

from __future__ import annotations

PATIENCE_S = 60.0
"""Less than a test may take as a whole (`timeout` in pyproject.toml)."""
PROGRAM_S = 240.0
"""The same for a program that loads models and holds a conversation."""
