"""Requests to a server, against a real one on this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from s2s.core.stop import Listeners, StopSignal
from s2s.system.remote import Remote, RemoteError, ServerConfig, Waits, server_words
from tests.support.patience import PATIENCE_S

pytest.importorskip("openai")

SOON_S = 20.0
"""Far above what giving up takes (50 ms), far below every timeout of `remote`."""
LONG_S = 60.0


class Asked:
    """Posts a speech request and reads the bytes of the answer."""

    def __init__(self, config: ServerConfig, waits: Waits) -> None:
        self.remote = Remote(config)
        self.waits = waits

    def stream(self, stop: Callable[[], bool] = lambda: False) -> Generator[bytes, None, None]:
        with self.remote.ask(
            lambda client, headers: client.audio.speech.with_streaming_response.create(
                model="m", input="x", voice="v", extra_headers=headers
            ),
            self.waits,
            stop,
        ) as reply:
            yield from reply


@pytest.fixture
def remote(server) -> Iterator[Callable[..., Asked]]:
    made: list[Asked] = []

    def make(
        base_url: str = server.base_url,
        first: float = LONG_S,
        gap: float = LONG_S,
        busy: float = 0.0,
        **options: object,
    ) -> Asked:
        config = ServerConfig(base_url=base_url, **options)  # pyright: ignore[reportArgumentType]
        made.append(Asked(config, Waits(first, gap, LONG_S, busy)))
        return made[-1]

    yield make
    for each in made:
        each.remote.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_bytes_come_as_they_arrive_and_the_connection_is_used_again(server, remote) -> None:
    server.script = lambda request: server.send(request, [b"one", b"two"])
    asked = remote()
    for _ in range(3):
        assert b"".join(asked.stream()) == b"onetwo"
    assert [path for path, _, _ in server.requests] == ["/v1/audio/speech"] * 3
    assert server.connections == 1


def test_an_idle_connection_that_the_server_closed_is_replaced(server, remote) -> None:
    def once(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"x"])
        request.close_connection = True

    server.script = once
    asked = remote()
    assert [b"".join(asked.stream()) for _ in range(3)] == [b"x"] * 3


def test_requests_at_once_have_connections_of_their_own(server, remote) -> None:
    both_here = threading.Barrier(2, timeout=PATIENCE_S)

    def together(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"a"], end=False)
        both_here.wait()
        request.wfile.write(b"1\r\nb\r\n0\r\n\r\n")

    server.script = together
    asked = remote()
    first, second = asked.stream(), asked.stream()
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
    answer = remote().stream(stop=asked_to.is_set)
    assert b"".join(answer) in (b"", b"first")
    assert server.gone.wait(PATIENCE_S)
    assert time.monotonic() - started < SOON_S


def test_closing_the_iterator_hangs_up(server, remote) -> None:
    def silent(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"first"], end=False)
        server.wait_for_client_to_go(request)

    server.script = silent
    answer = remote().stream()
    assert next(answer) == b"first"
    answer.close()
    assert server.gone.wait(PATIENCE_S)


def test_a_refused_connection(remote) -> None:
    with pytest.raises(RemoteError, match=r"cannot be reached.*Is the server running"):
        list(remote(f"http://127.0.0.1:{free_port()}/v1").stream())


def test_a_server_that_never_answers(server, remote) -> None:
    server.script = server.wait_for_client_to_go
    with pytest.raises(RemoteError, match=r"no answer for 0\.2 s"):
        list(remote(first=0.2).stream())
    assert server.gone.wait(PATIENCE_S)


def test_a_server_that_stalls(server, remote) -> None:
    def stall(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"first"], end=False)
        server.wait_for_client_to_go(request)

    server.script = stall
    answer = remote(gap=0.3).stream()
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
        list(remote().stream())


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
        list(remote().stream())


def test_a_redirect_is_not_followed(server, remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")

    def redirect(request: BaseHTTPRequestHandler) -> None:
        request.send_response(307)
        request.send_header("Location", "http://other.example/v1/do")
        request.send_header("Content-Length", "0")
        request.end_headers()

    server.script = redirect
    with pytest.raises(RemoteError, match=r"Set base_url to .*other\.example"):
        list(remote(api_key_env="MY_KEY").stream())
    assert len(server.requests) == 1


def test_the_key_goes_only_where_it_belongs(
    server, remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = lambda request: server.send(request, [b"x"])
    monkeypatch.setenv("OPENAI_API_KEY", "not for you")
    monkeypatch.setenv("MY_KEY", "yours")
    list(remote().stream())
    list(remote(api_key_env="MY_KEY").stream())
    sent = [headers.get("authorization") for _, headers, _ in server.requests]
    assert sent == [None, "Bearer yours"]
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(RemoteError, match="MY_KEY, which is not set"):
        remote(api_key_env="MY_KEY")


@pytest.mark.parametrize("address", ["", "localhost:8080", "ftp://x/v1", "http://"])
def test_what_is_no_address(address: str, remote) -> None:
    with pytest.raises(RemoteError, match="is no address"):
        remote(address)


def status(code: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answers with a status."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def in_turn(server, *scripts: Callable[[BaseHTTPRequestHandler], None]) -> None:
    """Lets the server answer so, one after another; the last one from then on."""
    left = list(scripts)
    server.script = lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


@pytest.mark.parametrize("code", [429, 502, 503, 504, 529])
@pytest.mark.parametrize("header", [{}, {"Retry_After": "0.2"}, {"Retry_After_Ms": "200"}])
def test_a_server_that_is_loading_or_busy_is_waited_for(
    server, remote, caplog: pytest.LogCaptureFixture, code: int, header: dict[str, str]
) -> None:
    busy = status(code, b'{"error": {"message": "Loading model"}}', **header)
    in_turn(server, busy, lambda request: server.send(request, [b"there"]))
    assert b"".join(remote(busy=LONG_S).stream()) == b"there"
    assert "Loading model" in caplog.text  # the sign of life
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (b'{"error": {"message": "no more", "code": "insufficient_quota"}}', {}),
        (b'{"error": "no more"}', {"Retry_After": "3600"}),
        (b'{"error": "no more"}', {"Retry_After": "Fri, 31 Dec 2100 23:59:59 GMT"}),
    ],
)
def test_what_no_waiting_helps_is_told_at_once(
    server, remote, body: bytes, header: dict[str, str]
) -> None:
    server.script = status(429, body, **header)
    with pytest.raises(RemoteError, match="no more"):
        list(remote(busy=LONG_S).stream())
    assert len(server.requests) == 1


def test_stopping_ends_the_wait_for_a_busy_server(server, remote) -> None:
    asked = threading.Event()

    def busy(request: BaseHTTPRequestHandler) -> None:
        status(503, b"loading", Retry_After="30")(request)
        asked.set()

    server.script = busy
    started = time.monotonic()
    assert list(remote(busy=LONG_S).stream(stop=asked.is_set)) == []
    assert time.monotonic() - started < SOON_S


def test_a_signal_ends_the_wait_without_being_asked_again_and_again(server, remote) -> None:
    """A plain function is asked every 50 ms; a signal only when something has changed."""
    source, stopped, asked = Listeners(), threading.Event(), []

    def is_stopped() -> bool:
        asked.append(stopped.is_set())
        return asked[-1]

    def silent(request: BaseHTTPRequestHandler) -> None:
        server.gone.wait(0.3)  # six times as long as a plain function would be left alone
        stopped.set()
        source.tell()
        server.wait_for_client_to_go(request)

    server.script = silent
    assert list(remote().stream(stop=StopSignal(is_stopped, source))) == []
    assert server.gone.wait(PATIENCE_S)
    assert asked.count(False) <= 2


def test_a_long_answer_waits_in_the_server_until_it_is_read(server, remote) -> None:
    sent: list[int] = []

    def long(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [], end=False)
        for number in range(400):
            request.wfile.write(b"10000\r\n" + 2**16 * b"x" + b"\r\n")
            sent.append(number)
        request.wfile.write(b"0\r\n\r\n")

    server.script = long
    answer = remote().stream()
    first = next(answer)
    server.gone.wait(0.3)
    assert len(sent) < 400
    assert len(first) + sum(len(data) for data in answer) == 400 * 2**16


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "no tea", "type": "x"}}', "no tea"),
        (b'{"error": "no tea"}', "no tea"),
        (b'{"object": "error", "message": "no tea", "code": 400}', "no tea"),
        (b'{"detail": "no tea"}', "no tea"),
        (b'{"detail": [{"loc": ["body"], "msg": "no tea"}]}', "no tea"),
        (b'{"errors": [{"message": "no tea"}, {"message": "no milk"}]}', "no tea; no milk"),
        (b'\xef\xbb\xbf{"message": "no tea"}', "no tea"),
        (b"no\n tea", "no tea"),
        (b"<html><head><title>no &amp; tea</title></head><body>x</body></html>", "no & tea"),
        (b"<!DOCTYPE html><html><body><h1>no</h1><p>tea</p></body></html>", "no tea"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_the_servers_own_words_are_shown(server, remote, body: bytes, words: str) -> None:
    assert server_words(body) == words
    server.script = status(400, body)
    with pytest.raises(RemoteError) as failed:
        list(remote().stream())
    assert failed.value.words == words
    assert words in str(failed.value)
    assert failed.value.status == 400


def test_nothing_of_an_openai_account_goes_to_another_server(
    server, remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://other.example/v1")
    server.script = lambda request: server.send(request, [b"x"])
    list(remote(extra_headers={"X-Mine": "1"}).stream())
    headers = server.requests[0][1]
    assert not {"authorization", "openai-organization", "openai-project"} & set(headers)
    assert headers["x-mine"] == "1"


def test_a_request_that_cannot_be_written_is_an_error(server, remote) -> None:
    asked = remote()
    with (
        pytest.raises(RemoteError, match="cannot be made"),
        asked.remote.ask(
            lambda client, headers: client.audio.speech.with_streaming_response.create(
                model="m", input="\ud83d", voice="v", extra_headers=headers
            ),
            asked.waits,
        ) as reply,
    ):
        reply.read()


def test_closing_ends_what_another_thread_reads(server, remote) -> None:
    def silent(request: BaseHTTPRequestHandler) -> None:
        server.send(request, [b"first"], end=False)
        server.wait_for_client_to_go(request)

    server.script = silent
    asked = remote()
    answer = asked.stream()
    assert next(answer) == b"first"
    asked.remote.close()
    with pytest.raises(RemoteError, match="given up"):
        next(answer)
    assert server.gone.wait(PATIENCE_S)


def test_closing_is_repeatable_and_a_later_request_opens_it_again(remote, server) -> None:
    server.script = lambda request: server.send(request, [b"x"])
    asked = remote()
    list(asked.stream())
    asked.remote.close()
    asked.remote.close()
    assert b"".join(asked.stream()) == b"x"
