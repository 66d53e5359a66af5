"""Answers of the HTTP endpoints in the form that clients of the OpenAI API read."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import JSONResponse, Response


class ApiError(Exception):
    """A request that is refused, and how the client is told.

    Args:
        status: of HTTP.
        code: the API's word for it.
        message: what is wrong, and what to do.
        param: the field that is meant.
        retry_after_s: when to come again.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s

    def response(self) -> Response:
        """The answer."""
        headers: dict[str, str] = {}
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(self.retry_after_s)
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.body(), self.status, headers)

    def body(self) -> Mapping[str, object]:
        """The error object."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {
            "error": {
                "type": kind,
                "code": self.code,
                "message": str(self),
                "param": self.param,
            }
        }


def sse(kind: str | None, data: str) -> bytes:
    """One server-sent event; `data` is one line."""
    head = "" if kind is None else f"event: {kind}\n"
    return f"{head}data: {data}\n\n".encode()
