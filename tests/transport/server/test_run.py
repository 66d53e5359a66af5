"""The server on a real port: uvicorn, sockets, and clients that do what clients do."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import ssl
import struct
import threading
from contextlib import ExitStack
from pathlib import Path

import httpx2
import psutil
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from s2s.transport.server import run
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import ClientOpening, ClientSocket, SocketGone
from s2s.transport.server.run import ServerError, bind
from s2s.transport.server.tls import self_made
from s2s.transport.server.web_socket import POLICY
from tests.support.serving import VOICE_HZ, Voice, fake_server, served

WAIT_S = 30


def url(port: int, path: str = "/v1/realtime") -> str:
    return f"ws://127.0.0.1:{port}{path}"


class Ends:
    """A conversation that echoes, and tells when it has ended."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    async def __call__(self, socket: ClientSocket, opening: ClientOpening) -> None:
        self.begun.set()
        try:
            while (text := await socket.receive_text()) is not None:
                await socket.send_text(text)
        finally:
            self.ended.set()


def test_it_listens_serves_and_ends():
    with served(fake_server()) as port:
        assert httpx2.get(f"http://127.0.0.1:{port}/health").json()["status"] == "ok"
        with connect(url(port)) as client:
            assert client.recv() == "hello  0"
            client.send("abc")
            assert client.recv() == "abc"
    with pytest.raises(OSError):  # noqa: PT011
        socket.create_connection(("127.0.0.1", port), timeout=WAIT_S).close()


def test_refusals_are_http_before_the_upgrade():
    """What clients and browsers see on the wire, with the time to come again."""
    with served(fake_server(ServeConfig(max_sessions=1), key="k")) as port:
        with pytest.raises(InvalidStatus) as caught, connect(url(port)):
            pass
        assert caught.value.response.status_code == 401
        bearer = {"Authorization": "Bearer k"}
        with connect(url(port), additional_headers=bearer) as client:
            client.recv()
            with (
                pytest.raises(InvalidStatus) as caught,
                connect(url(port), additional_headers=bearer),
            ):
                pass
            response = caught.value.response
            assert response.status_code == 503
            assert response.headers["retry-after"].isdigit()
            assert json.loads(response.body or b"")["error"]["code"] == "session_limit_reached"


def test_the_end_of_the_server_is_told_to_clients():
    with ExitStack() as stack:
        with served(fake_server()) as port:
            client = stack.enter_context(connect(url(port)))
            client.recv()
        with pytest.raises(ConnectionClosedError) as caught:
            client.recv(WAIT_S)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1012


def test_a_message_beyond_all_bounds_ends_its_connection_alone():
    server = fake_server(ServeConfig(max_message_bytes=1_000))
    with served(server) as port, connect(url(port)) as other, connect(url(port)) as client:
        other.recv()
        client.recv()
        client.send("x" * 5_000)
        with pytest.raises(ConnectionClosedError) as caught:
            client.recv(WAIT_S)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1009
        other.send("still here")
        assert other.recv(WAIT_S) == "still here"


def test_small_frames_do_not_wait_for_an_acknowledgement():
    """asyncio sets this on connections, if the listening socket names TCP."""
    with served(fake_server()) as port, connect(url(port)) as client:
        ours = client.local_address[1]
        [fd] = [
            each.fd
            for each in psutil.Process().net_connections("tcp")
            if each.raddr and (each.laddr[1], each.raddr[1]) == (port, ours)
        ]
        with socket.socket(fileno=os.dup(fd)) as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_told():
    with bind(ServeConfig(port=0)) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(ServerError, match=rf"127.0.0.1:{port}.*another port"):
            bind(ServeConfig(port=port))


def test_https_with_a_certificate_made_here(tmp_path: Path):
    files = self_made(tmp_path)
    trusts = ssl.create_default_context(cafile=str(files.certificate))
    with served(fake_server(), files) as port:
        answer = httpx2.get(f"https://localhost:{port}/health", verify=trusts)
        assert answer.json()["status"] == "ok"
        with connect(f"wss://localhost:{port}/v1/realtime", ssl=trusts) as client:
            assert client.recv() == "hello  0"


# --- clients that go wrong ------------------------------------------------------------------------


def upgraded(port: int) -> socket.socket:
    """A bare connection on which nobody answers anything."""
    raw = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    key = base64.b64encode(os.urandom(16)).decode()
    raw.sendall(
        f"GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        .encode()
    )  # fmt: skip
    assert raw.recv(12) == b"HTTP/1.1 101"
    return raw


def test_a_client_that_is_killed_frees_its_place():
    """The process is gone in the middle of a message: the system sends a reset."""
    ends = Ends()
    server = fake_server(ServeConfig(max_sessions=1), converse=ends)
    with served(server) as port:
        raw = upgraded(port)
        assert ends.begun.wait(WAIT_S)
        raw.sendall(b"\x81\xfe\x10\x00abcd half a message")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
        assert ends.ended.wait(WAIT_S)
    assert server.sessions.taken == 0


def test_a_half_open_connection_is_noticed(monkeypatch: pytest.MonkeyPatch):
    """The machine of the client was switched off: nothing comes, not even an end."""
    monkeypatch.setattr(run, "PING_S", 0.2)
    ends = Ends()
    with served(fake_server(converse=ends)) as port, upgraded(port):
        assert ends.ended.wait(WAIT_S)


def test_a_client_that_reads_nothing_is_closed_and_slows_nobody():
    told: list[str] = []
    slow_ended = threading.Event()

    async def converse(connection: ClientSocket, opening: ClientOpening) -> None:
        if opening.model != "slow":
            while (text := await connection.receive_text()) is not None:
                await connection.send_text(text)
            return
        try:
            while True:
                await connection.send_text("x" * 1_000_000)
        except SocketGone as gone:
            told.append(str(gone))
            slow_ended.set()

    server = fake_server(ServeConfig(slow_reader_s=0.5), converse=converse)
    with served(server) as port, connect(url(port)) as good:
        raw = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        with raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            key = base64.b64encode(os.urandom(16)).decode()
            raw.sendall(
                f"GET /v1/realtime?model=slow HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            for number in range(20):
                good.send(f"{number}")
                assert good.recv(WAIT_S) == f"{number}"
            assert slow_ended.wait(WAIT_S)
    assert told == ["the connection has ended: slow_reader"]
    assert POLICY == 1008


def test_a_stalling_model_holds_nobody_else():
    """The language server does not answer: its request waits, sessions and lists go on; who asks
    beyond what may wait is told to come again; who gives up frees its place."""
    stalls, goes_on = threading.Event(), threading.Event()

    class Stalling:
        reads_ahead = True

        def stream(self, messages: object, **options: object):
            stalls.set()
            goes_on.wait(WAIT_S)
            yield "late"

        def count_tokens(self, text: str) -> int:
            return 1

        def close(self) -> None: ...

    asked = {"messages": [{"role": "user", "content": "Hi."}]}
    server = fake_server(ServeConfig(http_workers=1, http_waiting=1), chat=Stalling())

    async def test(port: int) -> None:
        base = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(base_url=base, timeout=WAIT_S) as client:
            first = asyncio.create_task(client.post("/v1/chat/completions", json=asked))
            await asyncio.to_thread(stalls.wait, WAIT_S)
            second = asyncio.create_task(client.post("/v1/chat/completions", json=asked))
            while (await client.get("/metrics")).text.find("s2s_http_requests_waiting 2") < 0:
                await asyncio.sleep(0)
            third = await client.post("/v1/chat/completions", json=asked)
            assert third.status_code == 503
            assert third.json()["error"]["code"] == "server_busy"
            assert (await client.get("/v1/models")).status_code == 200
            goes_on.set()
            assert (await first).json()["choices"][0]["message"]["content"] == "late"
            assert (await second).status_code == 200

    with served(server) as port, connect(url(port)) as client:
        client.recv()
        asyncio.run(test(port))
        client.send("still here")
        assert client.recv(WAIT_S) == "still here"


def test_an_answer_that_nobody_reads_holds_no_thread():
    """Megabytes of speech are asked for and not read, by more clients than there are threads."""
    server = fake_server(ServeConfig(http_workers=1), synthesizer=Voice())
    words = " ".join(["a"] * 2_000)  # 200 s of sound
    asked = json.dumps(
        {"input": words, "voice": "ada", "response_format": "pcm"}, separators=(",", ":")
    ).encode()
    with served(server) as port:
        slow: list[socket.socket] = []
        for _ in range(2):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.settimeout(WAIT_S)
            client.connect(("127.0.0.1", port))
            client.sendall(
                b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                % (len(asked), asked)
            )
            assert client.recv(12) == b"HTTP/1.1 200"
            slow.append(client)
        answer = httpx2.post(
            f"http://127.0.0.1:{port}/v1/audio/speech",
            json={"input": "a b", "voice": "ada", "response_format": "pcm"},
            timeout=WAIT_S,
        )
        assert len(answer.content) == 2 * 2 * VOICE_HZ // 10
        for client in slow:
            client.close()


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_who_hangs_up_stops_the_work(stream: bool):
    """The answer is being made, and its client goes: the model is free again."""
    begun, stopped = threading.Event(), threading.Event()

    class Endless:
        reads_ahead = True

        def stream(self, messages: object, *, stop: object = None, **options: object):
            assert callable(stop)
            try:
                while not stop():
                    begun.set()
                    yield "word "
            finally:
                stopped.set()

        def count_tokens(self, text: str) -> int:
            return 1

        def close(self) -> None: ...

    body = json.dumps({"messages": [{"role": "user", "content": "Hi."}], "stream": stream}).encode()
    with served(fake_server(chat=Endless())) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as client:
            client.sendall(
                f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            assert begun.wait(WAIT_S)
            assert not stopped.is_set()
        assert stopped.wait(WAIT_S)


def test_a_server_drains_at_its_end_while_it_still_listens():
    """Who distributes clients asks it until all have gone."""
    server = fake_server()
    answers: list[int] = []
    ports: list[int] = []

    async def drain() -> None:
        server.draining = True
        async with httpx2.AsyncClient() as http:
            for path in ("health", "ready"):
                found = await http.get(f"http://127.0.0.1:{ports[0]}/{path}")
                answers.append(found.status_code)

    with served(server, drain=drain) as port:
        ports.append(port)
    assert answers == [503, 503]
