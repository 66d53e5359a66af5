"""What went wrong with a server: its own words, what to do, and whether trying again helps."""

from __future__ import annotations

import pytest

from s2s.system.remote.errors import (
    WORDS_CHARS,
    broken,
    is_html,
    refused,
    reported_error,
    server_words,
    stalled,
    unexpected,
    words_in,
)

URL = "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    ("status", "final", "advice"),
    [
        (401, True, "api_key_env"),
        (404, True, "base_url"),
        (307, True, "Set base_url to where it points: http://there/"),
        (429, False, "wait"),
        (503, False, "loading"),
        (500, False, "log"),
        (418, False, "options"),
    ],
)
def test_a_refusal_says_what_to_do(status: int, final: bool, advice: str) -> None:
    error = refused(URL, status, b'{"error": "no tea"}', "http://there/")
    assert str(error).startswith(f"{URL} answered {status}: no tea. ")
    assert advice in str(error)
    assert (error.status, error.words, error.final) == (status, "no tea", final)


def test_words_that_end_in_a_full_stop_get_no_second_one() -> None:
    assert "answered 500: No tea! Look" in str(refused(URL, 500, b"No tea!"))
    assert "answered 500: nothing. Look" in str(refused(URL, 500, b""))


def test_silence_and_a_lost_connection_are_told_apart() -> None:
    assert "no answer for 2.5 s" in str(stalled(URL, 2.5))
    unreachable = broken(URL, OSError("refused"), connected=False)
    assert "cannot be reached (refused)" in str(unreachable)
    assert unreachable.final
    lost = broken(URL, OSError("reset"), connected=True)
    assert "in the middle of the answer (reset)" in str(lost)
    assert not lost.final


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b" \n", "answered with nothing where a voice was due"),
        (b"<html><title>Hi</title>", "answered with a web page (Hi)"),
        (b'{"message": "no"}', "answered 'no' where a voice was due"),
    ],
)
def test_an_answer_of_another_kind_is_told(body: bytes, said: str) -> None:
    assert said in str(unexpected(URL, body, "a voice"))


@pytest.mark.parametrize(
    ("body", "page"),
    [
        (b"<!DOCTYPE html>", True),
        (b"\xef\xbb\xbf\n <HTML>", True),
        (b'{"a": "<html>"}', False),
        (b"", False),
    ],
)
def test_a_page_begins_as_one(body: bytes, page: bool) -> None:
    assert is_html(body) is page


def test_long_words_are_shortened_to_one_line() -> None:
    words = server_words(b"a\n" * 1000)
    assert len(words) == WORDS_CHARS
    assert "\n" not in words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"error": {"message": "a"}}, "a"),
        ([{"message": "a"}, {"detail": "b"}], "a; b"),
        ({"detail": [{"loc": ["body", "model"], "msg": "missing"}]}, "model: missing"),
        ({"error": "", "message": "b"}, "b"),
        ({"id": 3}, ""),
        (3, ""),
    ],
)
def test_the_message_is_found_in_any_shape(value: object, words: str) -> None:
    assert words_in(value) == words


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": {"code": 3}}, '{"error": {"code": 3}}'),
        ({"object": "error", "message": "b"}, "b"),
        ({"detail": "c"}, "c"),
        ({"detail": "c", "text": "Hello."}, None),
        ({"error": None, "text": "Hello."}, None),
        (["error"], None),
    ],
)
def test_an_error_may_come_with_status_200(value: object, told: str | None) -> None:
    assert reported_error(value) == told
