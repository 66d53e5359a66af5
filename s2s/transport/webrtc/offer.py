"""What a client asks for with a call: its offer, and the session that it wants."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from s2s.core.untyped import is_mapping
from s2s.transport.server.audio_api.fields import read_body
from s2s.transport.server.reply import ApiError

MOST_BYTES = 256 * 1024
"""Of a request: offers of browsers have some thousands."""


@dataclass(frozen=True, slots=True)
class CallOffer:
    """One request."""

    sdp: str
    session: Mapping[str, object] | None
    """As the client sent it; None: none."""


async def read_offer(request: Request) -> CallOffer:
    """
    Raises:
        ApiError: it is neither SDP nor a form with it.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await read_body(request, MOST_BYTES)
    if kind == "application/sdp":
        return CallOffer(_sdp(body.decode("utf-8", "replace")), None)
    if kind != "multipart/form-data":
        raise ApiError(
            400,
            "invalid_request",
            "Send the offer as application/sdp, or as multipart/form-data with the parts sdp and "
            "session.",
        )
    form = await _form(request, body)
    try:
        sdp, session = await _part(form, "sdp"), await _part(form, "session")
    finally:
        await form.close()
    return CallOffer(_sdp(sdp), _session(session) if session.strip() else None)


async def _form(request: Request, body: bytes) -> FormData:
    async def parts() -> AsyncGenerator[bytes]:
        yield body

    parser = MultiPartParser(request.headers, parts(), max_files=4, max_fields=8)
    parser.spool_max_size = len(body) + 1
    try:
        return await parser.parse()
    except (MultiPartException, KeyError, ValueError, UnicodeError) as error:
        raise ApiError(400, "invalid_request", "The form cannot be read.") from error


async def _part(form: FormData, name: str) -> str:
    found = form.get(name)
    if isinstance(found, UploadFile):
        return (await found.read()).decode("utf-8", "replace")
    return found or ""


def _sdp(text: str) -> str:
    if not text.lstrip().startswith("v=0"):
        raise ApiError(400, "invalid_offer", "The offer is no SDP.", param="sdp")
    return text


def _session(text: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "invalid_json", "session is no JSON.", param="session") from error
    if not is_mapping(value):
        raise ApiError(400, "invalid_type", "session is no JSON object.", param="session")
    return value
