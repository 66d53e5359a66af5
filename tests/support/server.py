"""A real HTTP server on this machine whose answers a test scripts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class ScriptedServer:
    """A real HTTP server on this machine that answers each request by `script`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        """Path, headers (lower case) and body of each request."""
        self.connections = 0
        self.gone = threading.Event()
        """Set when a client has hung up on a script that waits in `wait_for_client_to_go`."""
        self.script: Callable[[BaseHTTPRequestHandler], None] = lambda _: None
        """Writes the answer."""
        self._ended = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"] or 0))
                headers = {key.lower(): value for key, value in self.headers.items()}
                server.requests.append((self.path, headers, body))
                server.script(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler

    @staticmethod
    def send(
        request: BaseHTTPRequestHandler,
        chunks: Iterable[bytes],
        *,
        kind: str = "text/event-stream",
        end: bool = True,
    ) -> None:
        """Answer 200 with `chunks`, each on its own; without `end` the answer stays open."""
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        for chunk in chunks:
            request.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            request.wfile.flush()
        if end:
            request.wfile.write(b"0\r\n\r\n")
            request.wfile.flush()

    def wait_for_client_to_go(self, request: BaseHTTPRequestHandler) -> None:
        """Say nothing until the client hangs up or the test is over."""
        request.connection.settimeout(0.02)
        while not self._ended.is_set():
            try:
                if not request.connection.recv(1):
                    self.gone.set()
                    break
            except TimeoutError:
                continue
            except OSError:
                self.gone.set()
                break
        request.close_connection = True

    def close(self) -> None:
        self._ended.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A local HTTP server whose answers the test scripts."""
    scripted = ScriptedServer()
    yield scripted
    scripted.close()
