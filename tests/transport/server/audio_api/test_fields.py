"""Fields of a request that cannot be are refused by name."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message

from s2s.transport.server.audio_api import fields
from s2s.transport.server.reply import ApiError


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"input": NaN'],
    ids=["empty", "cut", "list", "text", "binary", "deep", "cut number"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/chat/completions"])
def test_a_body_that_is_no_object_is_refused(http: TestClient, path: str, body: bytes):
    answer = http.post(path, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_json"


def test_a_body_that_is_too_large_is_refused(http: TestClient):
    answer = http.post("/v1/audio/speech", content=b" " * (4 * 1024 * 1024 + 1))
    assert answer.status_code == 413


# --- fields --------------------------------------------------------------------------------------


@contextmanager
def refused(code: str, param: str | None = None) -> Generator[None]:
    """What is inside is refused so."""
    with pytest.raises(ApiError) as error:
        yield
    assert (error.value.status, error.value.code, error.value.param) == (400, code, param)


def test_a_text_is_required_unless_there_is_another() -> None:
    assert fields.text({"a": ""}, "a", default="b") == ""
    assert fields.text({"a": None}, "a", default="b") == "b"
    with refused("missing_required_parameter", "a"):
        fields.text({}, "a")
    with refused("invalid_type", "a"):
        fields.text({"a": 3}, "a", default="b")


@pytest.mark.parametrize("value", [1, 1.0, "1", " 1.0 "])
def test_a_number_may_be_written_as_text(value: object) -> None:
    assert fields.number({"a": value}, "a", 0.5, 1, 2) == 1.0


@pytest.mark.parametrize("value", [0.99, 2.01, "inf", "nan", float("nan"), -1e308])
def test_a_number_beyond_its_bounds_is_refused(value: object) -> None:
    with refused("invalid_value", "a"):
        fields.number({"a": value}, "a", 0.5, 1, 2)


@pytest.mark.parametrize("value", [True, False, "", "one", [], {}])
def test_what_is_no_number_is_refused(value: object) -> None:
    with refused("invalid_type", "a"):
        fields.number({"a": value}, "a", 0.5, 0, 2)


def test_a_number_that_is_missing_is_the_usual_one() -> None:
    assert fields.number({"a": None}, "a", 0.5, 1, 2) == 0.5  # even where it could not be asked for


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(True, True), (False, False), (None, False), ("TRUE", True), ("0", False), ("1", True)],
)
def test_a_flag_comes_as_json_or_in_a_form(value: object, wanted: bool) -> None:
    assert fields.flag({"a": value}, "a") is wanted


@pytest.mark.parametrize("value", ["yes", "", 1, 0, []])
def test_what_is_neither_true_nor_false_is_refused(value: object) -> None:
    with refused("invalid_type", "a"):
        fields.flag({"a": value}, "a")


def test_one_of_some_names() -> None:
    assert fields.one_of({}, "a", ("x", "y")) == "x"
    assert fields.one_of({"a": "y"}, "a", ("x", "y")) == "y"
    for value in ("", "X", "z" * 100):
        with refused("invalid_value", "a"):
            fields.one_of({"a": value}, "a", ("x", "y"))


# --- bodies --------------------------------------------------------------------------------------


def body_of(*parts: bytes, declared: str | None = None, most: int = 4) -> bytes:
    """What is read of a request that comes in these parts."""
    messages: list[Message] = [
        {"type": "http.request", "body": part, "more_body": True} for part in parts
    ]
    messages.append({"type": "http.request", "body": b"", "more_body": False})
    headers = [] if declared is None else [(b"content-length", declared.encode())]

    async def receive() -> Message:
        return messages.pop(0)

    request = Request({"type": "http", "headers": headers}, receive)
    return asyncio.run(fields.read_body(request, most))


@pytest.mark.parametrize("declared", [None, "4", "0", "many", "-9"])
def test_a_body_is_read_whole_whatever_it_says_of_its_length(declared: str | None) -> None:
    assert body_of(b"ab", b"", b"cd", declared=declared) == b"abcd"


@pytest.mark.parametrize("declared", [None, "1", "5"])
def test_a_body_beyond_the_most_is_refused_as_it_comes(declared: str | None) -> None:
    with pytest.raises(ApiError) as error:
        body_of(b"abc", b"de", declared=declared)
    assert (error.value.status, error.value.code) == (413, "request_too_large")


def test_a_body_that_says_it_is_too_long_is_not_read() -> None:
    async def receive() -> Message:
        raise AssertionError("it was read")

    request = Request({"type": "http", "headers": [(b"content-length", b"5")]}, receive)
    with pytest.raises(ApiError):
        asyncio.run(fields.read_body(request, 4))
