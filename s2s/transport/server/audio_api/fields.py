"""Fields of a request, checked: JSON and forms."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.requests import Request

from s2s.core.untyped import is_mapping
from s2s.transport.server.reply import ApiError

MAX_JSON_BYTES = 4 * 1024 * 1024
"""Of a request's body: a long conversation fits."""


async def read_body(request: Request, most: int) -> bytes:
    """The body.

    Raises:
        ApiError: it is longer than `most` bytes.
    """
    declared = request.headers.get("content-length", "")
    too_long = ApiError(
        413, "request_too_large", f"The request is too large: {most} bytes are the most."
    )
    if declared.isdigit() and int(declared) > most:
        raise too_long
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise too_long
    return bytes(body)


async def json_object(request: Request) -> Mapping[str, object]:
    """The JSON object in the body.

    Raises:
        ApiError: it is none.
    """
    body = await read_body(request, MAX_JSON_BYTES)
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "invalid_json", "The request's body is no JSON.") from error
    if not is_mapping(value):
        raise ApiError(400, "invalid_json", "The request's body must be a JSON object.")
    return value


def text(fields: Mapping[str, object], name: str, *, default: str | None = None) -> str:
    """A field that is text; required without a default."""
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if value is None:
        raise ApiError(400, "missing_required_parameter", f"{name} is missing.", param=name)
    if not isinstance(value, str):
        raise wrong_type(name, "text")
    return value


def number(
    fields: Mapping[str, object], name: str, default: float, least: float, most: float
) -> float:
    """A field that is a number from `least` to `most`."""
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise wrong_type(name, "a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(name, "a number")
    if not least <= value <= most:
        raise ApiError(
            400,
            "invalid_value",
            f"{name} must be from {least:g} to {most:g}, got {value:g}.",
            param=name,
        )
    return float(value)


def flag(fields: Mapping[str, object], name: str) -> bool:
    """A field that is true or false; false where it is missing."""
    value = fields.get(name)
    if value is None:
        return False
    if isinstance(value, str) and value.lower() in ("true", "false", "1", "0"):
        return value.lower() in ("true", "1")
    if not isinstance(value, bool):
        raise wrong_type(name, "true or false")
    return value


def one_of(fields: Mapping[str, object], name: str, names: tuple[str, ...]) -> str:
    """A field that is one of `names`; the first where it is missing."""
    value = text(fields, name, default=names[0])
    if value not in names:
        raise ApiError(
            400,
            "invalid_value",
            f"{name} must be one of {', '.join(names)}, got {value[:40]!r}.",
            param=name,
        )
    return value


def wrong_type(name: str, wanted: str) -> ApiError:
    """A field of another JSON type."""
    return ApiError(400, "invalid_type", f"{name} must be {wanted}.", param=name)
