"""Events off the wire, within limits.

The package `wyoming` reads them too, without limits, and takes what it cannot read for the end of
the connection; here that is told to the client.
"""

from __future__ import annotations

import asyncio
import json

from wyoming.event import Event

from s2s.core.untyped import is_mapping

HEADER_BYTES = 64 * 1024
"""Longest line with an event's head."""
DATA_BYTES = 1024 * 1024
"""Most of what stands behind it, beside sound."""


class WireFault(Exception):
    """What the client sent is no event that can be taken; its connection ends with that.

    Args:
        code: of the `error` event.
        message: what is wrong, and what to do.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


async def read_event(reader: asyncio.StreamReader, max_payload_bytes: int) -> Event | None:
    """The next event; None where the client has said all.

    Args:
        reader: with a limit of at least `HEADER_BYTES`.

    Raises:
        WireFault: it cannot be read, or is too long.
    """
    try:
        line = await reader.readline()
    except ValueError as error:
        raise WireFault(
            "header_too_long", f"An event's first line has more than {HEADER_BYTES} bytes."
        ) from error
    if not line:
        return None
    if not line.endswith(b"\n"):
        raise WireFault("cut", "The connection ended within an event.")
    head = _object(line, "first line")
    kind = head.get("type")
    if not isinstance(kind, str):
        raise WireFault("bad_header", "An event's first line names no type.")
    inline = head.get("data")
    data: dict[str, object] = dict(inline) if is_mapping(inline) else {}
    data_length = _length(head.get("data_length"), DATA_BYTES, "data_length")
    payload_length = _length(head.get("payload_length"), max_payload_bytes, "payload_length")
    try:
        if data_length:
            data |= _object(await reader.readexactly(data_length), "data")
        payload = await reader.readexactly(payload_length) if payload_length else None
    except asyncio.IncompleteReadError as error:
        raise WireFault("cut", "The connection ended within an event.") from error
    return Event(type=kind, data=data, payload=payload)


def _object(text: bytes, what: str) -> dict[str, object]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireFault("bad_header", f"An event's {what} is no JSON: {text[:60]!r}.") from error
    if not is_mapping(value):
        raise WireFault("bad_header", f"An event's {what} is no JSON object: {text[:60]!r}.")
    return dict(value)


def _length(value: object, most: int, name: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise WireFault("bad_header", f"{name} is {str(value)[:60]!r}; it is a number of bytes.")
    if value > most:
        raise WireFault("too_large", f"{name} is {value}; {most} bytes are the most.")
    return value
