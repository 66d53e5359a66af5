"""Short-lived keys for clients that must not have the server's own: a page on another server.

They are kept in memory and end with the server.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass

from s2s.transport.server.access import same

PREFIX = "ek_"
MOST = 1_000
"""Secrets that are kept; the oldest go."""
SHORTEST_S, LONGEST_S, USUAL_S = 10, 7_200, 600
"""How long a secret may live."""


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """One of them."""

    value: str
    expires_at: int
    """Seconds since 1970."""
    session: Mapping[str, object]
    """What its connections begin with."""


class ClientSecrets:
    """Those that are out."""

    def __init__(self) -> None:
        self._secrets: list[ClientSecret] = []

    def make(self, session: Mapping[str, object], lives_s: int, now_s: float) -> ClientSecret:
        """A new one. now_s: seconds since 1970."""
        made = ClientSecret(PREFIX + secrets.token_urlsafe(24), int(now_s) + lives_s, session)
        self._secrets = [*self._valid(now_s), made][-MOST:]
        return made

    def find(self, value: str | None, now_s: float) -> ClientSecret | None:
        """The one of that value, if it still counts."""
        if value is None or not value.startswith(PREFIX):
            return None
        return next((each for each in self._valid(now_s) if same(each.value, value)), None)

    def _valid(self, now_s: float) -> list[ClientSecret]:
        return [each for each in self._secrets if each.expires_at > now_s]


def wall_s() -> float:
    """Seconds since 1970: what the ends of secrets are told in."""
    return time.time()
