"""Conversations in Redis, or what speaks its protocol: several servers on machines of any kind.

Each rule is a script, which Redis runs as one step. What is kept goes by its age alone; how much
there may be at all is Redis' own setting (`maxmemory` with `volatile-ttl`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol, cast
from urllib.parse import urlsplit

import redis.asyncio
from redis.exceptions import RedisError

from s2s.transport.server.kept.store import Claim, Holder, StoreUnreachable, Written

ANSWER_S = 2.0
"""Redis answers within so long, or it is out of reach."""
HANDED_MS = 5_000
"""How long what was handed over waits to be fetched."""
TOLD_MS = 60_000
"""How long a replica has to hear that a client came elsewhere."""

CLAIM = """
local before = redis.call('HMGET', KEYS[1], 'epoch', 'replica', 'state')
local now = redis.call('TIME')
local previous = tonumber(before[1]) or 0
local epoch = math.max(now[1] * 1000 + math.floor(now[2] / 1000), previous + 1)
local older = before[2] or ''
redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch), 'replica', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if older ~= '' then
  redis.call('HSET', KEYS[1], 'awaited', string.format('%.0f', previous))
  if older ~= ARGV[1] then
    local box = KEYS[2] .. older
    redis.call('RPUSH', box, KEYS[1] .. '|' .. string.format('%.0f', previous))
    redis.call('PEXPIRE', box, ARGV[3])
  end
else
  redis.call('HDEL', KEYS[1], 'awaited')
end
return {string.format('%.0f', epoch), string.format('%.0f', previous), older, before[3]}
"""
WRITE = """
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then
  if ARGV[3] == '' then return 'unknown' end
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'replica', ARGV[2])
elseif tonumber(ARGV[1]) < tonumber(epoch) then
  return 'taken'
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'state', ARGV[3])
  redis.call('HDEL', KEYS[1], 'awaited')
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if redis.call('HEXISTS', KEYS[1], 'state') == 1 then return 'kept' end
return 'unknown'
"""
LEAVE = """
local found = redis.call('HMGET', KEYS[1], 'epoch', 'awaited')
local epoch, awaited = found[1], found[2]
local handed = awaited and tonumber(awaited) == tonumber(ARGV[1])
if not epoch or tonumber(ARGV[1]) >= tonumber(epoch) then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'replica', '')
  if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'state', ARGV[2]) end
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
elseif handed then
  redis.call('HDEL', KEYS[1], 'awaited')
  if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'state', ARGV[2]) end
end
if handed then
  redis.call('RPUSH', KEYS[2], '1')
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return 0
"""


REPORT = """
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
redis.call('SADD', KEYS[1], ARGV[1])
return 0
"""
REPORTS = """
local found = {}
for _, replica in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local text = redis.call('GET', KEYS[2] .. replica)
  if text then
    found[#found + 1] = replica
    found[#found + 1] = text
  else
    redis.call('SREM', KEYS[1], replica)
  end
end
return found
"""


class RedisClient(Protocol):
    """What is asked of the library's client; answers are bytes."""

    async def execute_command(self, *args: object) -> object:
        """Do one command."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class RedisStore:
    """`ConversationStore` in Redis.

    Args:
        client: of the server.
        where: how it is named in messages.
        prefix: of all keys.
    """

    def __init__(self, client: RedisClient, where: str, prefix: str = "s2s:") -> None:
        self._redis = client
        self._where = where
        self._prefix = prefix

    @classmethod
    def at(cls, url: str) -> RedisStore:
        """Of a server by its address, such as `redis://:password@host:6379/0`, `rediss://...`.

        Raises:
            ValueError: it is none.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("redis", "rediss"):
            raise ValueError(
                f"the address of Redis must begin with redis:// or rediss://, got {parts.scheme!r}"
            )
        where = f"{parts.scheme}://{parts.hostname or '?'}:{parts.port or 6379}"
        client = redis.asyncio.Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
            url, socket_connect_timeout=ANSWER_S, socket_timeout=None
        )
        return cls(cast(RedisClient, client), where)

    async def claim(self, name: str, replica: str, keep_s: float, wait_s: float) -> Claim:
        """See `ConversationStore`."""
        key, boxes = self._key(name), self._prefix + "taken:"
        found = await self._do("EVAL", CLAIM, 2, key, boxes, replica, _ms(keep_s), TOLD_MS)
        epoch, previous, older, state = cast(list[bytes | None], found)
        claim = Claim(int(epoch or 0), int(previous or 0), state)
        if not older or older.decode() == replica or wait_s <= 0:
            return claim
        handed = self._handed(key, claim.previous)
        await self._do("BLPOP", handed, wait_s, more_s=wait_s)
        latest = await self._do("HGET", key, "state")
        return Claim(claim.epoch, claim.previous, cast(bytes | None, latest))

    async def write(self, holder: Holder, state: bytes | None, keep_s: float) -> Written:
        """See `ConversationStore`."""
        given = (holder.epoch, holder.replica, state or b"", _ms(keep_s))
        became = await self._do("EVAL", WRITE, 1, self._key(holder.name), *given)
        return cast(Written, cast(bytes, became).decode())

    async def leave(self, holder: Holder, state: bytes | None, keep_s: float) -> None:
        """See `ConversationStore`."""
        key = self._key(holder.name)
        handed = self._handed(key, holder.epoch)
        given = (holder.epoch, state or b"", _ms(keep_s), HANDED_MS)
        await self._do("EVAL", LEAVE, 2, key, handed, *given)

    async def taken(self, replica: str, wait_s: float) -> list[tuple[str, int]]:
        """See `ConversationStore`."""
        box = f"{self._prefix}taken:{replica}"
        found = await self._do("BLPOP", box, wait_s, more_s=wait_s)
        if found is None:
            return []
        _, told = cast(tuple[bytes, bytes], found)
        key, _, epoch = told.decode().rpartition("|")
        return [(key.removeprefix(self._key("")), int(epoch))]

    async def remember(self, name: str, value: bytes, keep_s: float) -> None:
        """See `ConversationStore`."""
        await self._do("SET", f"{self._prefix}value:{name}", value, "PX", _ms(keep_s))

    async def recall(self, name: str) -> bytes | None:
        """See `ConversationStore`."""
        return cast(bytes | None, await self._do("GET", f"{self._prefix}value:{name}"))

    async def report(self, replica: str, text: str, keep_s: float) -> None:
        """See `ConversationStore`."""
        given = (self._prefix + "replicas", f"{self._prefix}report:{replica}")
        await self._do("EVAL", REPORT, 2, *given, replica, text, _ms(keep_s))

    async def reports(self) -> Mapping[str, str]:
        """See `ConversationStore`."""
        given = (self._prefix + "replicas", f"{self._prefix}report:")
        found = cast(list[bytes], await self._do("EVAL", REPORTS, 2, *given))
        texts = [each.decode() for each in found]
        return dict(sorted(zip(texts[::2], texts[1::2], strict=True)))

    async def close(self) -> None:
        """See `ConversationStore`."""
        await self._redis.aclose()

    def _key(self, name: str) -> str:
        return f"{self._prefix}conversation:{name}"

    def _handed(self, key: str, epoch: int) -> str:
        return f"{key}:handed:{epoch}"

    async def _do(self, *command: object, more_s: float = 0.0) -> object:
        """One command; it is answered in time.

        Raises:
            StoreUnreachable: it is not.
        """
        try:
            async with asyncio.timeout(ANSWER_S + more_s):
                return await self._redis.execute_command(*command)
        except (RedisError, OSError, TimeoutError) as error:
            raise StoreUnreachable(
                f"Redis at {self._where} does not answer ({type(error).__name__}): see that it "
                "runs, that this machine reaches it, and that its address and password are right."
            ) from None


def _ms(seconds: float) -> int:
    return max(1, round(1000 * seconds))
