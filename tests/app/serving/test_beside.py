"""Servers in threads of their own: they listen first, and their failure is told."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from s2s.app.serving.beside import running


class Server:
    """Runs until it is stopped, or fails where it is told to."""

    def __init__(self, fails: str = "") -> None:
        self.ready: Callable[[], None] = lambda: None
        self._fails = fails
        self._stopped = threading.Event()
        self.failed = threading.Event()

    def run(self) -> None:
        if self._fails == "first":
            raise OSError("cannot listen")
        self.ready()
        if self._fails == "later":
            self.failed.set()
            raise OSError("gone")
        self._stopped.wait()

    def stop(self) -> None:
        self._stopped.set()


def test_it_runs_inside_and_nowhere_else() -> None:
    before = threading.active_count()
    with running(Server(), "a server"):
        assert "a server" in {thread.name for thread in threading.enumerate()}
    assert threading.active_count() == before


def test_one_that_cannot_begin_is_told() -> None:
    with pytest.raises(OSError, match="cannot listen"), running(Server("first"), "a server"):
        raise AssertionError("it has not begun")


def test_one_that_fails_later_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("later")
    with caplog.at_level(logging.ERROR), running(server, "a server"):
        server.failed.wait()
    assert "a server has ended" in caplog.text
