"""The command `serve`: what is looked at before models are loaded, and what it tells."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest
from rich.console import Console

from s2s.app import cli
from s2s.app.serving import command
from s2s.app.serving.command import ServeUnavailable, model_names, tell, tls_files
from s2s.app.serving.flags import add_flags, given_settings
from s2s.config import loader
from s2s.config.schema import Config
from s2s.llm.llama import LlamaConfig
from s2s.models.store import Store
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.run import bind
from s2s.transport.server.tls import self_made


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path))
    monkeypatch.delenv("S2S_API_KEY", raising=False)

    def loaded(*_: object) -> None:
        raise AssertionError("models were loaded")

    monkeypatch.setattr(command, "load_models", loaded)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "--api-key"),
        (["--tls", "nowhere.pem", "nowhere.pem"], "nowhere.pem"),
        (["--port", "70000"], "port must be"),
        (["--max-sessions", "0"], "max_sessions must be"),
        (["--codec-stream"], "serve with --tts qwen3"),
        (["--codec-stream", "--tts", "qwen3", "--tts.language_model", "ws://x"], "and without"),
    ],
)
def test_what_cannot_be_served_is_told_before_models_are_loaded(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["serve", *arguments]) in (1, 2)
    assert told in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_before_models_are_loaded(
    capsys: pytest.CaptureFixture[str],
):
    with bind(ServeConfig(port=0)) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        assert cli.main(["serve", "--port", str(port)]) == 1
    assert "another port" in capsys.readouterr().err


def test_what_is_missing_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(command, "NEEDED", ("starlette", "nothing_of_that_name"))
    assert cli.main(["serve"]) == 1
    assert (
        "serve needs nothing_of_that_name. Install it: pip install 's2s[serve]'"
        in capsys.readouterr().err
    )


def test_files_that_are_no_certificate_are_told(tmp_path: Path):
    for name in ("a.pem", "b.pem"):
        (tmp_path / name).write_text("no certificate", encoding="utf-8")
    config = ServeConfig(tls_cert=str(tmp_path / "a.pem"), tls_key=str(tmp_path / "b.pem"))
    with pytest.raises(ServeUnavailable, match="both PEM"):
        tls_files(config, Store())


def test_a_certificate_is_made_where_none_is_given():
    files = tls_files(ServeConfig(tls=True), Store())
    assert files is not None
    assert files.certificate.is_file()
    assert tls_files(ServeConfig(), Store()) is None


def test_models_are_named_without_their_folders():
    config = loader.load(flags=[("", "llm.model", "/secret/place/big.gguf")])
    assert model_names(config) == {"big.gguf": "llm", "moonshine-tiny-en": "stt", "hibari": "tts"}
    assert "llm" in model_names(Config()).values()


def told(config: ServeConfig, key: str | None, *, tls: bool = False, terminal: bool = True) -> str:
    out = io.StringIO()
    console = Console(file=out, width=60, force_terminal=terminal, highlight=False)
    files = tls_files(ServeConfig(tls=True), Store()) if tls else None
    tell(console, config, 8765, key, files, 1.0)
    return out.getvalue()


def test_it_tells_where_it_is():
    text = told(ServeConfig(), None)
    assert "http://localhost:8765/\n" in text
    assert "ws://localhost:8765/v1/realtime" in text
    assert "█" not in text


def test_it_tells_devices_how_to_have_codes():
    assert "--tts.language_model" in told(ServeConfig(codec_stream=True), None)
    assert "--tts.language_model" not in told(ServeConfig(), None)


def test_it_shows_the_way_in_for_a_phone(monkeypatch: pytest.MonkeyPatch):
    from s2s.transport.server import tls

    monkeypatch.setattr(tls, "own_addresses", lambda: ["192.168.7.8"])
    everywhere = ServeConfig(host="0.0.0.0")
    text = told(everywhere, "k", tls=True)
    assert "https://192.168.7.8:8765/" in text
    assert "Certificate: SHA-256 " in text
    assert "█" in text
    assert "The code holds the key." in text
    assert "█" not in told(everywhere, "k", tls=True, terminal=False)
    assert "Without --tls" in told(everywhere, "k")
    assert self_made(Store().folder("tls")).key.is_file()


@pytest.mark.parametrize(
    ("given", "kept"),
    [([], 4), (["--max-sessions", "2"], 2), (["--max-sessions", "9"], 4)],
)
def test_the_language_model_keeps_several_conversations(given: list[str], kept: int) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    config = loader.load(flags=given_settings(parser.parse_args(given)))
    options = command.for_several(config).llm.options
    assert isinstance(options, LlamaConfig)
    assert options.slots == kept


def test_who_says_how_many_conversations_are_kept_is_obeyed() -> None:
    config = loader.load(flags=[("--set", "llm.slots", "7")])
    assert command.for_several(config) == config
