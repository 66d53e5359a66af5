"""Requests to a server, against a real one on this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.system.remote import Endpoint, Remote, RemoteError, Request, lines

POST = Request("/do", json={"a": 1})
SOON_S = 2.0
"""Far above what giving up takes (50 ms), far below every timeout of `remote`."""


@pytest.fixture
def remote(server) -> Iterator[Callable[..., Remote]]:
    made: list[Remote] = []

    def make(
        base_url: str = server.base_url, first: float = 30.0, key: str | None = None
    ) -> Remote:
        made.append(Remote(Endpoint(base_url, key, 5.0, first, 0.3)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_bytes_come_as_they_arrive_and_the_connection_is_used_again(server, remote) -> None:
    server.script = lambda request: server.send(request, [b"one", b"two"])
    asked = remote()
    for _ in range(3):
        assert b"".join(asked.stream(POST)) == b"onetwo"
    assert [path for path, _, _ in server.requests] == ["/v1/do"] * 3
    assert server.connections == 1


def test_an_idle_connection_that_the_server_closed_is_replaced(server, remote) -> None:
    def once(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"x"])
        request.close_connection = True

    server.script = once
    asked = remote()
    assert [b"".join(asked.stream(POST)) for _ in range(3)] == [b"x"] * 3


def test_requests_at_once_have_connections_of_their_own(server, remote) -> None:
    both_here = threading.Barrier(2, timeout=10.0)

    def together(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"a"], end=False)
        both_here.wait()
        request.wfile.write(b"1\r\nb\r\n0\r\n\r\n")

    server.script = together
    asked = remote()
    first, second = asked.stream(POST), asked.stream(POST)
    assert [next(first), next(second)] == [b"a", b"a"]
    assert b"".join(first) + b"".join(second) == b"bb"
    assert server.connections == 2


@pytest.mark.parametrize("headers_first", [True, False])
def test_closing_hangs_up_while_the_server_is_silent(server, remote, headers_first: bool) -> None:
    asked_to = threading.Event()

    def silent(request: BaseHTTPRequestHandler) -> None:
        if headers_first:
            server.send(request, [b"first"], end=False)
        asked_to.set()
        server.wait_for_client_to_go(request)

    server.script = silent
    started = time.monotonic()
    answer = remote().stream(POST, stop=asked_to.is_set)
    assert b"".join(answer) in (b"", b"first")
    assert server.gone.wait(SOON_S)
    assert time.monotonic() - started < SOON_S


def test_closing_the_iterator_hangs_up(server, remote) -> None:
    def silent(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"first"], end=False)
        server.wait_for_client_to_go(request)

    server.script = silent
    answer = remote().stream(POST)
    assert next(answer) == b"first"
    answer.close()
    assert server.gone.wait(SOON_S)


def test_a_refused_connection(remote) -> None:
    with pytest.raises(RemoteError, match=r"cannot be reached.*Is the server running"):
        list(remote(f"http://127.0.0.1:{free_port()}/v1").stream(POST))


def test_a_server_that_never_answers(server, remote) -> None:
    server.script = server.wait_for_client_to_go
    with pytest.raises(RemoteError, match=r"no answer for 0\.2 s"):
        list(remote(first=0.2).stream(POST))
    assert server.gone.wait(SOON_S)


def test_a_server_that_stalls(server, remote) -> None:
    def stall(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"first"], end=False)
        server.wait_for_client_to_go(request)

    server.script = stall
    answer = remote().stream(POST)
    assert next(answer) == b"first"
    with pytest.raises(RemoteError, match=r"no answer for 0\.3 s"):
        next(answer)


def test_a_connection_that_is_cut(server, remote) -> None:
    def cut(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"first"], end=False)
        request.connection.shutdown(socket.SHUT_RDWR)
        request.close_connection = True

    server.script = cut
    with pytest.raises(RemoteError, match="closed the connection in the middle"):
        list(remote().stream(POST))


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "api_key_env"), (404, "base_url"), (429, "wait"), (500, "log"), (418, "options")],
)
def test_an_error_status_says_what_to_do(server, remote, status: int, advice: str) -> None:
    def refuse(request: BaseHTTPRequestHandler) -> None:
        body = b'{"error": "no tea"}'
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    server.script = refuse
    with pytest.raises(RemoteError, match=rf"(?s)answered {status}.*no tea.*{advice}"):
        list(remote().stream(POST))


def test_a_redirect_is_not_followed(server, remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")

    def redirect(request: BaseHTTPRequestHandler) -> None:
        request.send_response(307)
        request.send_header("Location", "http://other.example/v1/do")
        request.send_header("Content-Length", "0")
        request.end_headers()

    server.script = redirect
    with pytest.raises(RemoteError, match=r"Set base_url to .*other\.example"):
        list(remote(key="MY_KEY").stream(POST))
    assert len(server.requests) == 1


def test_the_key_goes_only_where_it_belongs(
    server, remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = lambda request: server.send(request, [b"x"])
    monkeypatch.setenv("OPENAI_API_KEY", "not for you")
    monkeypatch.setenv("MY_KEY", "yours")
    list(remote().stream(POST))
    list(remote(key="MY_KEY").stream(POST))
    sent = [headers.get("authorization") for _, headers, _ in server.requests]
    assert sent == [None, "Bearer yours"]
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(RemoteError, match="MY_KEY, which is not set"):
        remote(key="MY_KEY")


@pytest.mark.parametrize("address", ["", "localhost:8080", "ftp://x/v1", "http://"])
def test_what_is_no_address(address: str, remote) -> None:
    with pytest.raises(RemoteError, match="is no address"):
        remote(address)


@given(st.text(alphabet="ab\r\né", max_size=40), st.data())
def test_lines_do_not_depend_on_the_chunks(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    chunks: list[bytes] = []
    while raw:
        size = data.draw(st.integers(1, len(raw)))
        chunks.append(raw[:size])
        raw = raw[size:]
    expected = [line.rstrip("\r") for line in text.split("\n")]
    if not text.split("\n")[-1]:
        expected.pop()
    assert list(lines(iter(chunks))) == expected
