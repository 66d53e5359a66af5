"""What a client asks for with a call, in both forms that clients send."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.requests import Request
from starlette.types import Message

from s2s.transport.server.reply import ApiError
from s2s.transport.webrtc.offer import MOST_BYTES, CallOffer, read_offer

SDP = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\n"


def read(body: bytes, kind: str) -> CallOffer:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
    return asyncio.run(read_offer(Request(scope, receive)))


def form(**parts: str) -> tuple[bytes, str]:
    text = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in parts.items()
    )
    return f"{text}--b--\r\n".encode(), "multipart/form-data; boundary=b"


def test_an_offer_comes_alone_or_with_a_session() -> None:
    assert read(SDP.encode(), "application/sdp") == CallOffer(SDP, None)
    assert read(SDP.encode(), "application/sdp; charset=utf-8") == CallOffer(SDP, None)
    assert read(*form(sdp=SDP)).session is None
    session = {"type": "realtime", "instructions": "Be kind."}
    assert read(*form(sdp=SDP, session=json.dumps(session))).session == session


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"", "application/sdp", "invalid_offer"),
        (b"{}", "application/json", "invalid_request"),
        (b"x", "multipart/form-data", "invalid_request"),
        (*form(session="{}"), "invalid_offer"),
        (*form(sdp=SDP, session="{"), "invalid_json"),
        (*form(sdp=SDP, session="[]"), "invalid_type"),
    ],
)
def test_what_is_no_offer_is_told(body: bytes, kind: str, code: str) -> None:
    with pytest.raises(ApiError) as refused:
        read(body, kind)
    assert (refused.value.status, refused.value.code) == (400, code)


def test_an_offer_without_end_is_refused() -> None:
    with pytest.raises(ApiError) as refused:
        read(b"v=0" + b"x" * MOST_BYTES, "application/sdp")
    assert refused.value.status == 413
