"""What a satellite is made of: wake words, sound, and where it is told."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from wyoming.info import Describe, Info

from s2s.app import cli
from s2s.app.serving import satellite, wyoming_command
from s2s.app.serving.satellite import satellite_beside, satellite_words
from s2s.app.serving.wyoming import WyomingUnavailable
from s2s.config.schema import Config
from s2s.testing.simulator import EnergyVad
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.transport.wyoming.satellite.server import SatelliteServer
from tests.support.satellite import BeepWord, Room
from tests.support.wyoming import exchange


def configured(**settings: object) -> Config:
    made = SatelliteConfig(mode="beside", port=0, **settings)  # pyright: ignore[reportArgumentType]
    return replace(Config(), wyoming=WyomingConfig(zeroconf=False, satellite=made))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two wake words."""
    monkeypatch.setattr(satellite, "builtin_names", lambda: ("alexa", "okay_nabu"))
    monkeypatch.setattr(satellite, "MicroWakeModel", lambda _name: BeepWord())  # pyright: ignore


@pytest.mark.usefixtures("installed")
def test_it_listens_for_all_wake_words_or_for_those_that_are_wanted() -> None:
    assert list(satellite_words(configured())) == ["alexa", "okay_nabu"]
    assert list(satellite_words(configured(wake_words=("okay_nabu",)))) == ["okay_nabu"]
    own = replace(configured(), models=replace(Config().models, wake_word="words/house.json"))
    assert list(satellite_words(own)) == ["alexa", "okay_nabu", "house"]
    with pytest.raises(WyomingUnavailable, match="no wake word 'house'; there is alexa"):
        satellite_words(configured(wake_words=("house",)))


def test_without_a_wake_word_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(satellite, "builtin_names", lambda: ())
    with pytest.raises(WyomingUnavailable, match=r"pip install 's2s\[wake-word\]'"):
        satellite_words(configured())


@pytest.mark.usefixtures("installed")
def test_beside_what_is_served_it_is_there_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.StringIO()
    console = Console(file=written, width=200)
    before = threading.active_count()
    with satellite_beside(Config(), EnergyVad(), console):
        assert threading.active_count() == before
    monkeypatch.setattr(satellite, "LocalTransport", lambda *_: Room())  # pyright: ignore
    with satellite_beside(configured(), EnergyVad(), console):
        told = written.getvalue()
        assert "it wakes at: alexa, okay nabu" in told
        port = int(told.partition(";")[0].rpartition(":")[2])
        info = Info.from_event(exchange(port, [Describe()], "info")[0])
        assert info.satellite is not None
    assert threading.active_count() == before


@pytest.mark.usefixtures("installed")
def test_alone_it_loads_no_models_that_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path))
    monkeypatch.setattr(satellite, "LocalTransport", lambda *_: Room())  # pyright: ignore
    monkeypatch.setattr(satellite, "open_vad", lambda *_: EnergyVad())  # pyright: ignore

    def loaded(*_: object) -> None:
        raise AssertionError("models were loaded")

    until_stopped = SatelliteServer.run

    def run(server: SatelliteServer) -> None:
        told = server.ready

        def ready() -> None:
            told()
            server.stop()

        server.ready = ready
        until_stopped(server)

    monkeypatch.setattr(wyoming_command, "load_models", loaded)
    monkeypatch.setattr(SatelliteServer, "run", run)
    assert cli.main(["wyoming", "--satellite-only", "--set", "wyoming.satellite.port=0"]) == 0
    assert not [each for each in threading.enumerate() if each.name.startswith("s2s-remote")]
    assert "Satellite: tcp://127.0.0.1:" in capsys.readouterr().out


def test_what_is_missing_is_told_before_models_are_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path))
    monkeypatch.setattr(satellite, "builtin_names", lambda: ())

    def loaded(*_: object) -> None:
        raise AssertionError("models were loaded")

    monkeypatch.setattr(wyoming_command, "load_models", loaded)
    assert cli.main(["wyoming", "--satellite"]) == 1
    assert "pip install 's2s[wake-word]'" in capsys.readouterr().err
