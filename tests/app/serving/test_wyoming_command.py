"""The command `wyoming`: what is looked at before models are loaded, and its whole way."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from wyoming.info import Describe

from s2s.app import cli
from s2s.app.serving import wyoming_command
from s2s.bench.load.served import models_at_once
from s2s.session.models import Models
from s2s.transport.wyoming.server import WyomingServer
from tests.support.wyoming import exchange


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path))


def test_who_may_come_in_is_asked_before_models_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def loaded(*_: object) -> None:
        raise AssertionError("models were loaded")

    monkeypatch.setattr(wyoming_command, "load_models", loaded)
    assert cli.main(["wyoming", "--host", "0.0.0.0"]) == 1
    assert "--allow private" in capsys.readouterr().err
    assert cli.main(["wyoming", "--allow", "home"]) == 2
    assert "'home' is no address" in capsys.readouterr().err


def test_it_serves_until_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def models(*_: object) -> Models:
        return models_at_once()

    def served(server: WyomingServer) -> None:
        """Ask it something, then stop it: on the loop's thread nothing of it may wait."""
        tell = server.ready

        def ready() -> None:
            tell()
            threading.Thread(target=ask).start()

        def ask() -> None:
            try:
                asked.append(exchange(server.port, [Describe()], "info")[0].type)
            finally:
                server.stop()

        server.ready = ready
        run(server)

    run = WyomingServer.run
    monkeypatch.setattr(wyoming_command, "load_models", models)
    monkeypatch.setattr(WyomingServer, "run", served)
    assert cli.main(["wyoming", "--port", "0"]) == 0
    assert asked == ["info"]
    assert "Wyoming protocol: tcp://127.0.0.1:" in capsys.readouterr().out
