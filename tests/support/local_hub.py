"""A hub on this machine, for tests of what is fetched: with paths and headers of the real one."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

COMMIT = "c" * 40


class LocalHub:
    """Files by (repository, name), and what was asked for."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        self.asked: list[tuple[str, str]] = []
        """(method, path) of each request."""
        self.announces: str | None = None
        """SHA-256 that it says of every file; None: the true one."""

    def answer(self, path: str) -> bytes | None:
        """The file at `/owner/repo/resolve/revision/name`."""
        owner, repo, _, _, *name = path.strip("/").split("/")
        return self.files.get((f"{owner}/{repo}", "/".join(name)))


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LocalHub

    def do_HEAD(self) -> None:
        self._begin()

    def do_GET(self) -> None:
        content = self._begin()
        if content is not None:
            self.wfile.write(content)

    def _begin(self) -> bytes | None:
        path = self.path.partition("?")[0]
        self.hub.asked.append((self.command, path))
        content = self.hub.answer(path)
        if content is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        digest = self.hub.announces or hashlib.sha256(content).hexdigest()
        self.send_response(200)
        for name, value in (
            ("X-Repo-Commit", COMMIT),
            ("X-Linked-Etag", f'"{digest}"'),
            ("X-Linked-Size", str(len(content))),
            ("ETag", f'"{digest}"'),
            ("Content-Length", str(len(content))),
        ):
            self.send_header(name, value)
        self.end_headers()
        return content

    def log_message(self, format: str, *_: object) -> None: ...


@contextmanager
def local_hub() -> Iterator[tuple[str, LocalHub]]:
    """A hub that runs inside; yields its address for `HF_ENDPOINT`, and what it holds."""
    hub = LocalHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (_Answers,), {"hub": hub}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalHub]:
    """The hub that the client asks, with an empty cache of its own."""
    pytest.importorskip("huggingface_hub")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # read when it is loaded
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "client"))
    with local_hub() as (address, held):
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield held
