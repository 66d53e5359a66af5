"""The socket to a server: what is sent with it, and every way in which there is none, in words."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from s2s.transport.remote.address import LinkError, LinkLost
from s2s.transport.remote.websocket import open_websocket
from tests.support.fake_realtime import FakeRealtime


def test_it_is_greeted_and_sends_its_key_and_its_token(fake_realtime: FakeRealtime) -> None:
    opened = open_websocket(fake_realtime.address, key="secret", resume="a" * 32)
    try:
        assert json.loads(opened.receive())["type"] == "session.created"
        opened.send('{"type": "input_audio_buffer.clear"}')
        assert json.loads(opened.receive())["type"] == "input_audio_buffer.cleared"
    finally:
        opened.close()
    headers = {name.lower(): value for name, value in fake_realtime.offers[0].items()}
    assert headers["authorization"] == "Bearer secret"
    assert headers["x-s2s-resume"] == "a" * 32


def test_without_a_key_none_is_sent(fake_realtime: FakeRealtime) -> None:
    open_websocket(fake_realtime.address).close()
    assert "authorization" not in {name.lower() for name in fake_realtime.offers[0]}


def test_a_wrong_key_is_refused_for_good(fake_realtime: FakeRealtime) -> None:
    fake_realtime.script.key = "right"
    with pytest.raises(LinkError, match=r"does not accept the key.*S2S_API_KEY") as caught:
        open_websocket(fake_realtime.address, key="wrong")
    assert not isinstance(caught.value, LinkLost)
    assert "wrong" not in str(caught.value), "a key is not shown"


def test_a_full_server_may_have_a_place_later(fake_realtime: FakeRealtime) -> None:
    fake_realtime.script.full = True
    with pytest.raises(LinkLost, match=r"no free place \(all 1 places are taken\)"):
        open_websocket(fake_realtime.address)


def test_where_nothing_listens_it_says_how_to_start_a_server(fake_realtime: FakeRealtime) -> None:
    fake_realtime.stop()
    try:
        with pytest.raises(LinkLost, match="s2s serve"):
            open_websocket(fake_realtime.address)
    finally:
        fake_realtime.start()


def test_another_path_is_no_realtime_server(fake_realtime: FakeRealtime) -> None:
    with pytest.raises(LinkError, match="no Realtime server"):
        open_websocket(fake_realtime.address.replace("realtime", "elsewhere"))


def test_a_web_page_is_no_realtime_server(fake_realtime: FakeRealtime) -> None:
    with pytest.raises(LinkError, match="no Realtime server"):
        open_websocket(f"ws://127.0.0.1:{fake_realtime.port}/index.html")


@contextmanager
def answering(reply: bytes) -> Iterator[int]:
    """A port where every connection is answered with some bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, _ = server.accept()
                    with client:
                        client.recv(4096)
                        client.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-OpenSSH_9\r\n", b"220 mail\r\n", b"\0\1\2"])
def test_what_speaks_no_http_is_no_realtime_server(reply: bytes) -> None:
    with answering(reply) as port, pytest.raises(LinkError, match="no Realtime server"):
        open_websocket(f"ws://127.0.0.1:{port}/v1/realtime")


def test_tls_to_a_server_without_it_says_which_it_is() -> None:
    plain = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with answering(plain) as port, pytest.raises(LinkError, match="ws:// rather than wss://"):
        open_websocket(f"wss://127.0.0.1:{port}/v1/realtime")


def test_a_name_that_no_machine_has_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "create_connection", unknown)
    with pytest.raises(LinkLost, match="no machine is called kitchen"):
        open_websocket("ws://kitchen:8765/v1/realtime")


@pytest.mark.parametrize(
    ("status", "lost", "words"),
    [(403, False, "key"), (404, False, "check the address"), (429, True, "cannot serve now"),
     (502, True, "cannot serve now"), (200, False, "no Realtime server"), (400, False, "refuses")],
)  # fmt: skip
def test_each_status_has_its_meaning(status: int, lost: bool, words: str) -> None:
    reply = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()
    with answering(reply) as port, pytest.raises(LinkError, match=words) as caught:
        open_websocket(f"ws://127.0.0.1:{port}/v1/realtime")
    assert isinstance(caught.value, LinkLost) == lost


def test_a_server_that_goes_is_lost(fake_realtime: FakeRealtime) -> None:
    opened = open_websocket(fake_realtime.address)
    opened.receive()
    fake_realtime.drop()
    with pytest.raises(LinkLost):
        opened.receive()
    with pytest.raises(LinkLost):
        opened.send("{}")
    opened.close()


def test_closing_ends_who_receives(fake_realtime: FakeRealtime) -> None:
    opened = open_websocket(fake_realtime.address)
    opened.receive()
    ended: list[Exception] = []

    def receive() -> None:
        try:
            opened.receive()
        except LinkLost as error:
            ended.append(error)

    thread = threading.Thread(target=receive)
    thread.start()
    opened.close()
    opened.close()
    thread.join()
    assert len(ended) == 1


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.sync.client", None)
    with pytest.raises(LinkError, match=r"pip install 's2s\[remote\]'"):
        open_websocket("ws://127.0.0.1:1/v1/realtime")


# --- TLS ---------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate that nobody vouches for, with its key, in one file."""
    key, pem = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    made += ["-nodes", "-days", "2", "-subj", "/CN=kitchen", "-keyout", str(key), "-out", str(pem)]
    try:
        subprocess.run(made, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl to make a certificate with")
    both = tmp_path / "both.pem"
    both.write_text(key.read_text() + pem.read_text())
    return both


@contextmanager
def with_tls(certificate: Path) -> Iterator[str]:
    """A Realtime server with that certificate; its address."""
    from websockets.sync.server import ServerConnection, serve

    def greet(connection: ServerConnection) -> None:
        connection.send('{"type": "session.created", "session": {"id": "sess_1"}}')
        for _ in connection:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serve(greet, "127.0.0.1", 0, ssl=context) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"wss://127.0.0.1:{server.socket.getsockname()[1]}/v1/realtime"
        server.shutdown()
        thread.join()


def test_a_certificate_of_its_own_is_accepted_by_its_fingerprint_alone(certificate: Path) -> None:
    with with_tls(certificate) as address:
        with pytest.raises(LinkError, match="--fingerprint") as caught:
            open_websocket(address)
        fingerprint = str(caught.value).rpartition(" ")[2]
        assert len(fingerprint) == 32 * 3 - 1
        for given in (fingerprint, fingerprint.replace(":", "").lower()):
            opened = open_websocket(address, fingerprint=given)
            assert "session.created" in opened.receive()
            opened.close()
        with pytest.raises(LinkError, match="not the one given"):
            open_websocket(address, fingerprint="00:" * 31 + "00")
