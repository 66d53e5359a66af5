"""llama.cpp's own server, as the wheel of xllamacpp carries it, in a process of its own.

A proxy before it breaks what it is told to break.

    python -m tests.support.llama_server MODEL.gguf      serves until its standard input ends
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest

from s2s.models.store import Store

ROOT = Path(__file__).parents[2]

Fault = Literal["429", "500", "silent", "stall", "cut", "malformed"]
"""Refused for now; refused; no answer at all; none after the first words; the connection ends
there; what is sent there is no JSON."""


class FaultyProxy:
    """Passes requests on, and breaks the next ones as told. `close` ends it."""

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream)
        self.faults: list[Fault] = []
        """Of the next requests, in order; none: all is well."""
        self.finals: list[dict[str, object]] = []
        """The last JSON of each answer that was passed on whole."""
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Answers", (_Answers,), {"proxy": self})
        )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: FaultyProxy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = self.proxy.faults.pop(0) if self.proxy.faults else None
        if fault in ("429", "500"):
            self._refuse(int(fault))
        elif fault == "silent":
            self.close_connection = True
            self.proxy.released.wait()
        else:
            self._pass_on(body, fault)

    def _refuse(self, status: int) -> None:
        content = json.dumps({"error": {"message": f"refused with {status}"}}).encode()
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _pass_on(self, body: bytes, fault: Fault | None) -> None:
        """The server's events one by one; the fault comes behind the second that has words."""
        upstream = http.client.HTTPConnection(str(self.proxy.upstream.netloc))
        try:
            upstream.request("POST", self.path, body, {"Content-Type": "application/json"})
            answer = upstream.getresponse()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Connection", "close")
            self.close_connection = True
            self.end_headers()
            worded, last = 0, ""
            for line in answer:
                self.wfile.write(line)
                self.wfile.flush()
                text = line.decode().strip().removeprefix("data: ")
                last = text if text.startswith("{") else last
                worded += '"content":"' in text
                if worded == 2 and fault is not None and not text:
                    self._break(fault)
                    return
            if last:
                self.proxy.finals.append(json.loads(last))
        except OSError:  # the client hung up
            self.close_connection = True
        finally:
            upstream.close()

    def _break(self, fault: Fault) -> None:
        if fault == "stall":
            self.proxy.released.wait()
        elif fault == "malformed":
            self.wfile.write(b'data: {"choices": [{"del\n\n')

    def log_message(self, format: str, *_: object) -> None: ...


@pytest.fixture(scope="module")
def llama_server() -> Iterator[str]:
    """Address of a server of the embedded language model."""
    pytest.importorskip("xllamacpp")
    command = [sys.executable, "-m", "tests.support.llama_server"]
    process = subprocess.Popen(
        [*command, str(Store().path("smollm2-135m"))],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


@pytest.fixture
def proxy(llama_server: str) -> Iterator[FaultyProxy]:
    made = FaultyProxy(llama_server)
    try:
        yield made
    finally:
        made.close()


def main() -> None:
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = sys.argv[1]
    options.n_ctx = 1024
    options.n_parallel = 1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.hostnames = ["127.0.0.1"]
    options.port = 0
    options.verbosity = -1
    options.warmup = False
    server = xllamacpp.Server(options)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
