"""What went wrong with a server, in its own words, and what to do about it."""

from __future__ import annotations

import json
import re
from html import unescape

from s2s.core.untyped import is_list, is_mapping

WORDS_CHARS = 300
"""As much of an answer as is shown."""

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.S | re.I)
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1>", re.S | re.I)
_TAG = re.compile(r"<[^>]+>")
_ADVICE = {
    401: "Set the key: api_key_env names the variable that holds it.",
    403: "The key may not do this.",
    404: "Check base_url and the model's name.",
    405: "Check base_url: this address takes no such request.",
    413: "The request is too long for the server.",
    429: "Too many requests: wait, or use another server.",
    503: "It may still be loading its model: try again later, or look at its log.",
}
_CANNOT_WORK = (401, 403, 404, 405)


class RemoteError(RuntimeError):
    """The server could not be used. The message names it and says what to do.

    Attributes:
        status: of the HTTP answer; None when there was none, or it was 200.
        words: what the server said; "" when nothing.
        final: trying again would not help: a wrong address, a missing key.
    """

    def __init__(
        self, message: str, *, status: int | None = None, words: str = "", final: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        self.words = words
        self.final = final


class RemoteStalled(RemoteError):
    """The server was silent for too long; the connection is as it was."""


def refused(url: str, status: int, body: bytes, location: str = "") -> RemoteError:
    """The error for an answer with an HTTP status that is none of success."""
    words = server_words(body)
    advice = _ADVICE.get(status, "Look at the server's log." if status >= 500 else "")
    if 300 <= status < 400:
        advice = f"Set base_url to where it points: {location}"
    final = status in _CANNOT_WORK or 300 <= status < 400
    said = words or "nothing"
    said += "" if said.endswith((".", "!", "?")) else "."
    advice = advice or "Check the options."
    return RemoteError(
        f"{url} answered {status}: {said} {advice}", status=status, words=words, final=final
    )


def stalled(url: str, wait_s: float) -> RemoteStalled:
    """The error for a server that is silent."""
    return RemoteStalled(
        f"{url}: no answer for {wait_s:g} s. The server is overloaded or still loading: try again, "
        "use a smaller model, or raise the timeout."
    )


def broken(url: str, error: BaseException, *, connected: bool) -> RemoteError:
    """The error for a connection that could not be made, or was lost."""
    cause = error.__cause__ or error
    if not connected:
        return RemoteError(
            f"{url} cannot be reached ({cause or 'timed out'}). Is the server running? "
            "Check base_url and the network.",
            final=True,
        )
    return RemoteError(
        f"{url} closed the connection in the middle of the answer ({cause}). Look at its log; "
        "it may have run out of memory."
    )


def unexpected(url: str, body: bytes, expected: str) -> RemoteError:
    """The error for an answer with status 200 that is not what was asked for.

    Args:
        body: the beginning of the answer is enough.
        expected: what was due, as in "a transcription".
    """
    words = server_words(body)
    if not body.strip():
        return RemoteError(
            f"{url} answered with nothing where {expected} was due. Look at its log."
        )
    if is_html(body):
        return RemoteError(
            f"{url} answered with a web page ({words}), which is no API. Check base_url: with most "
            "servers it ends in /v1.",
            words=words,
        )
    return RemoteError(
        f"{url} answered {words!r} where {expected} was due. Check base_url and the model's name.",
        words=words,
    )


def is_html(body: bytes) -> bool:
    """Whether an answer begins as a web page does."""
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    return start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<?xml"))


def server_words(body: bytes) -> str:
    """What an answer says about what went wrong: the message in its JSON, the title of its page, or
    its text, in one line."""
    text = body.decode("utf-8-sig", errors="replace").strip()
    try:
        words = words_in(json.loads(text))
    except ValueError:
        words = ""
    if not words and is_html(body):
        title = _TITLE.search(text)
        words = title[1] if title else _TAG.sub(" ", _HIDDEN.sub(" ", text))
        words = unescape(words)
    return " ".join((words or text).split())[:WORDS_CHARS]


def words_in(value: object) -> str:
    """The message in an answer that reports an error, in any of the usual shapes; "" when none."""
    if isinstance(value, str):
        return value
    if is_list(value):
        return "; ".join(filter(None, map(words_in, value)))
    if not is_mapping(value):
        return ""
    where = value.get("loc")
    if is_list(where) and len(where) > 1 and isinstance(value.get("msg"), str):
        return f"{where[-1]}: {value['msg']}"
    for key in ("error", "message", "detail", "msg", "errors", "reason", "description", "title"):
        if value.get(key) and (words := words_in(value[key])):
            return words
    return ""


def reported_error(value: object) -> str | None:
    """What an answer says that reports an error although its status is 200; None for one that does
    not."""
    if not is_mapping(value):
        return None
    is_error = bool(value.get("error")) or value.get("object") == "error"
    is_detail = "detail" in value and "choices" not in value and "text" not in value
    if is_error or is_detail:
        return words_in(value) or json.dumps(value, ensure_ascii=False)[:WORDS_CHARS]
    return None
