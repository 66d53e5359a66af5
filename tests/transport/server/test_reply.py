"""How a client is told that its request is refused."""

from __future__ import annotations

import json

import pytest

from s2s.transport.server.reply import ApiError, sse


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (404, "invalid_request_error"), (499, "invalid_request_error"),
     (500, "server_error"), (503, "server_error")],
)  # fmt: skip
def test_the_type_says_whose_fault_it_is(status: int, kind: str) -> None:
    error = ApiError(status, "some_code", "What to do.", param="input")
    answer = error.response()
    assert answer.status_code == status
    assert json.loads(bytes(answer.body)) == {
        "error": {"type": kind, "code": "some_code", "message": "What to do.", "param": "input"}
    }
    assert str(error) == "What to do."


def test_who_may_come_again_is_told_when() -> None:
    answer = ApiError(503, "server_busy", "Come again.", retry_after_s=2).response()
    assert answer.headers["retry-after"] == "2"
    assert "www-authenticate" not in answer.headers
    assert "retry-after" not in ApiError(503, "x", "y").response().headers


def test_zero_seconds_are_told_too() -> None:
    assert ApiError(429, "x", "y", retry_after_s=0).response().headers["retry-after"] == "0"


def test_a_missing_key_is_asked_for() -> None:
    assert ApiError(401, "missing_api_key", "x").response().headers["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in ApiError(403, "x", "y").response().headers


def test_a_sent_event_has_a_name_only_where_it_is_given_one() -> None:
    assert sse(None, "[DONE]") == b"data: [DONE]\n\n"
    assert sse("error", '{"a": "ä"}') == 'event: error\ndata: {"a": "ä"}\n\n'.encode()
