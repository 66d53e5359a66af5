"""Flags of `serve`: each sets what it names, and no other."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from s2s.app.serving.flags import VALUES, add_flags, given_settings
from s2s.config import loader
from s2s.config.typed import SettingError
from s2s.transport.server.config import ServeConfig


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path))


def given(*arguments: str) -> list[tuple[str, str, str]]:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    return given_settings(parser.parse_args(arguments))


def settings(*arguments: str) -> ServeConfig:
    return loader.load(flags=given(*arguments)).serve


def test_flags_are_settings():
    made = settings("--host", "0.0.0.0", "--port", "9", "--max-sessions", "3", "--insecure")
    assert (made.host, made.port, made.max_sessions, made.insecure) == ("0.0.0.0", 9, 3, True)
    assert not made.secure
    assert settings("--tls").tls
    own = settings("--tls", "a.pem", "b.pem")
    assert (own.tls_cert, own.tls_key, own.secure) == ("a.pem", "b.pem", True)
    assert settings("--codec-stream").codec_stream
    assert settings() == ServeConfig()


def test_one_file_is_no_certificate_with_its_key():
    with pytest.raises(SettingError, match="got 1 files"):
        settings("--tls", "a.pem")


def test_what_is_not_given_sets_nothing() -> None:
    assert given() == []


@pytest.mark.parametrize(
    ("flag", "value", "changed"),
    [
        ("host", "::1", {"host": "::1"}),
        ("port", "0", {"port": 0}),
        ("max-sessions", "7", {"max_sessions": 7}),
    ],
)
def test_each_flag_sets_its_own_key(flag: str, value: str, changed: dict[str, object]) -> None:
    assert flag in VALUES
    assert settings(f"--{flag}", value) == replace(ServeConfig(), **changed)  # pyright: ignore[reportArgumentType]
    assert given(f"--{flag}", value) == [(f"--{flag}", VALUES[flag][0], value)]


def test_every_flag_with_a_value_is_tried() -> None:
    assert set(VALUES) == {"host", "port", "max-sessions"}


@pytest.mark.parametrize("files", [["a"], ["a", "b", "c"]])
def test_a_number_of_files_that_makes_no_sense_is_told(files: list[str]) -> None:
    with pytest.raises(SettingError, match=f"got {len(files)} files"):
        given("--tls", *files)


def test_a_value_that_is_none_is_told_with_its_flag() -> None:
    with pytest.raises(SettingError, match=r"--port.*many"):
        settings("--port", "many")


def test_the_key_is_no_setting_and_is_kept_out_of_them() -> None:
    assert given("--api-key", "secret") == []
