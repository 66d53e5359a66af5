"""How many may be served at a time. On one event loop alone."""

from __future__ import annotations


class Places:
    """Places of which each is held by one; nobody waits for one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0

    @property
    def full(self) -> bool:
        """There is none left."""
        return self.taken >= self.most

    def take(self) -> bool:
        """Take one; False where there is none."""
        if self.full:
            return False
        self.taken += 1
        return True

    def leave(self) -> None:
        """Give one back."""
        self.taken -= 1
