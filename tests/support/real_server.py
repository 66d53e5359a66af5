"""`python -m s2s serve` as a process of its own, with the embedded models."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.support.ports import kept_port

START_S = 120.0
"""Models are loaded, on a machine that may be busy."""


class RealServer:
    """The server; it keeps its port when it is started again."""

    def __init__(self, log: Path, *flags: str) -> None:
        self._log = log
        self._flags = flags
        self.port = kept_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "s2s", "serve", "--port", str(self.port), *self._flags]
        environment = {key: text for key, text in os.environ.items() if key != "S2S_API_KEY"}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        until_s = monotonic() + START_S
        while True:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/health", timeout=5) as told:
                assert told.status == 200
                return
            assert self._process.poll() is None, self._log.read_text()
            assert monotonic() < until_s, self._log.read_text()
            sleep(0.2)  # until it listens: nothing else tells

    def stop(self) -> None:
        """As if its machine had lost its power."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def real_server(tmp_path: Path) -> Iterator[RealServer]:
    """A server for one conversation at a time; started by the test."""
    server = RealServer(tmp_path / "serve.log", "--max-sessions", "1")
    try:
        yield server
    finally:
        server.stop()
