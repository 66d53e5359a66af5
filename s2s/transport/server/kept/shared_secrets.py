"""Short-lived keys that are good on every server of a cluster, not only where they were made."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping

from s2s.core.untyped import is_object
from s2s.transport.server.client_secrets import PREFIX, ClientSecret, ClientSecrets
from s2s.transport.server.kept.store import ConversationStore, StoreUnreachable

log = logging.getLogger(__name__)


class SharedSecrets:
    """Those of one server, and those that others made.

    Args:
        store: what all servers share; None: there is this one alone.
    """

    def __init__(self, store: ConversationStore | None) -> None:
        self._own = ClientSecrets()
        self._store = store

    async def make(self, session: Mapping[str, object], lives_s: int, now_s: float) -> ClientSecret:
        """A new one. now_s: seconds since 1970. Where the others cannot be told of it, it is good
        here alone."""
        made = self._own.make(session, lives_s, now_s)
        if self._store is not None:
            value = json.dumps({"expires_at": made.expires_at, "session": dict(session)}).encode()
            try:
                await self._store.remember(_name(made.value), value, lives_s)
            except StoreUnreachable as error:
                log.warning("a client secret is good on this server alone: %s", error)
        return made

    async def find(self, value: str | None, now_s: float) -> ClientSecret | None:
        """The one of that value, if it still counts."""
        own = self._own.find(value, now_s)
        if own is not None or self._store is None:
            return own
        if value is None or not value.startswith(PREFIX):
            return None
        try:
            kept = await self._store.recall(_name(value))
        except StoreUnreachable as error:
            log.warning("a client secret of another server cannot be looked up: %s", error)
            return None
        return None if kept is None else _read(value, kept, now_s)


def _read(value: str, kept: bytes, now_s: float) -> ClientSecret | None:
    fields: object = json.loads(kept)
    if not is_object(fields):
        return None
    expires_at, session = fields.get("expires_at"), fields.get("session")
    if not isinstance(expires_at, int) or not is_object(session) or expires_at <= now_s:
        return None
    return ClientSecret(value, expires_at, session)


def _name(value: str) -> str:
    """From it the secret cannot be told."""
    return "secret:" + hashlib.sha256(value.encode()).hexdigest()
