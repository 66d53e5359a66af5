"""A WebSocket to a server, given up at any moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus

import pytest

from s2s.core.stop import Listeners, StopSignal
from s2s.system.remote import RemoteError, ServerWebSocket, SocketMessage, socket_address
from tests.support.patience import PATIENCE_S

pytest.importorskip("websockets")

from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

Serve = Callable[[ServerConnection], None]


@contextmanager
def served(answer: Serve) -> Iterator[str]:
    """Gives the address of a server that answers each socket so."""
    with serve(answer, "127.0.0.1", 0) as server, running(server) as url:
        yield url


@contextmanager
def running(server: Server) -> Iterator[str]:
    """It serves meanwhile; gives its address."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/"
    finally:
        server.shutdown()
        thread.join(PATIENCE_S)


def silent(connection: ServerConnection) -> None:
    """Reads, and says nothing."""
    for _ in connection:
        pass


def never() -> bool:
    return False


def data_of(message: SocketMessage | None) -> str | bytes:
    assert message is not None
    return message.data


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("kitchen", "ws://kitchen:9/v1/x"),
        ("http://kitchen", "ws://kitchen:9/v1/x"),
        ("ws://kitchen:8765/v1", "ws://kitchen:8765/v1/x"),
        ("wss://kitchen", "wss://kitchen/v1/x"),
        ("https://kitchen/v1/", "wss://kitchen/v1/x"),
        ("ws://[::1]:80/other?a=b", "ws://[::1]:80/other?a=b"),
    ],
)
def test_an_address_is_written_in_many_ways(given: str, expected: str) -> None:
    assert socket_address(given, "/v1/x", 9) == expected


@pytest.mark.parametrize("given", ["ftp://kitchen", "ws://", "ws://a:b@kitchen", "ws://x:port"])
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(RemoteError, match=r"no valid port|no address of a server") as caught:
        socket_address(given, "/v1/x")
    assert caught.value.final


def test_texts_and_bytes_go_both_ways() -> None:
    def echo(connection: ServerConnection) -> None:
        assert connection.request is not None
        connection.send(connection.request.headers["Authorization"])
        for message in connection:
            connection.send(message)

    with served(echo) as url, closing(ServerWebSocket(url, {"Authorization": "Bearer k"})) as made:
        assert made.open(never)
        assert data_of(made.receive(never, PATIENCE_S)) == "Bearer k"
        for message in ("text", b"\0\1"):
            made.send(message)
            assert data_of(made.receive(never, PATIENCE_S)) == message
        assert not made.lost


def test_what_a_server_sends_before_it_goes_is_read() -> None:
    def two(connection: ServerConnection) -> None:
        connection.send("one")
        connection.send("two")
        connection.close(1011, "out of memory")

    with served(two) as url, closing(ServerWebSocket(url, {})) as made:
        assert made.open(never)
        assert data_of(made.receive(never, PATIENCE_S)) == "one"
        assert data_of(made.receive(never, PATIENCE_S)) == "two"
        with pytest.raises(RemoteError, match=r"closed the (socket|connection).*out of memory"):
            made.receive(never, PATIENCE_S)
        assert made.lost
        with pytest.raises(RemoteError):
            made.send("more")


def test_a_stop_is_heard_while_the_server_is_silent() -> None:
    listeners, stopped, heard = Listeners(), threading.Event(), threading.Event()

    def hears(connection: ServerConnection) -> None:
        for _ in connection:
            heard.set()

    with served(hears) as url, closing(ServerWebSocket(url, {})) as made:
        assert made.open(never)
        made.send("hello")
        assert heard.wait(PATIENCE_S)

        def give_up() -> None:
            stopped.set()
            listeners.tell()

        thread = threading.Thread(target=give_up)
        thread.start()
        assert made.receive(StopSignal(stopped.is_set, listeners), PATIENCE_S) is None
        assert made.receive(stopped.is_set, PATIENCE_S) is None
        thread.join()


def test_a_silent_server_is_waited_for_only_so_long() -> None:
    with (
        served(silent) as url,
        closing(ServerWebSocket(url, {})) as made,
    ):
        assert made.open(never)
        with pytest.raises(RemoteError, match=r"no answer for 0\.01 s"):
            made.receive(never, 0.01)


def test_breaking_off_is_noticed_by_the_server_at_once() -> None:
    gone = threading.Event()

    def endless(connection: ServerConnection) -> None:
        connection.send("begun")
        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever says that it has gone
            connection.recv()
        gone.set()

    with served(endless) as url:
        made = ServerWebSocket(url, {})
        assert made.open(never)
        assert data_of(made.receive(never, PATIENCE_S)) == "begun"
        made.break_off()
        assert gone.wait(PATIENCE_S)
        with pytest.raises(RemoteError):
            made.receive(never, PATIENCE_S)
        made.break_off()
        made.close()


def test_a_server_that_is_not_there_or_does_not_speak_it_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with closing(ServerWebSocket(f"ws://127.0.0.1:{port}/", {})) as made:
        with pytest.raises(RemoteError, match="cannot be reached") as caught:
            made.open(never)
        assert caught.value.final


def test_a_server_that_refuses_is_quoted() -> None:
    def refuse(connection: ServerConnection, request: Request) -> Response:
        return connection.respond(HTTPStatus.UNAUTHORIZED, "who are you?")

    with (
        serve(silent, "127.0.0.1", 0, process_request=refuse) as server,
        running(server) as url,
        closing(ServerWebSocket(url, {})) as made,
        pytest.raises(RemoteError, match=r"answered 401: who are you\?") as caught,
    ):
        made.open(never)
    assert caught.value.final


def test_it_can_be_given_up_while_it_is_being_opened() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        made = ServerWebSocket(f"ws://127.0.0.1:{listening.getsockname()[1]}/", {})
        connection, _ = listening.accept()
        assert not made.open(lambda: True)
        made.close()
        connection.close()
