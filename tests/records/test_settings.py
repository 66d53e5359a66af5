"""The settings of a record: all of them come back, none that is secret is there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from s2s.config import loader
from s2s.records import settings
from s2s.records.lines import HIDDEN


@pytest.mark.parametrize("profile", [each for each in loader.profiles() if each != "piper"])
def test_the_settings_come_back(tmp_path: Path, profile: str) -> None:
    config = loader.load(profile=profile, environment={})
    path = tmp_path / "settings.yaml"
    path.write_bytes(settings.written(config))
    assert settings.changed(config, settings.read(path)) == {}


def test_a_change_is_laid_over_them(tmp_path: Path) -> None:
    config = loader.load(environment={}, flags=[("--language", "session.language", "de")])
    path = tmp_path / "settings.yaml"
    path.write_bytes(settings.written(config))
    key = "session.turns.unanswered_reopen_ms"
    changed = settings.changed(config, settings.read(path, [("--set", key, "333")]))
    assert changed == {key: (config.session.turns.unanswered_reopen_ms, 333)}


def test_what_may_be_secret_is_hidden() -> None:
    given = {
        "llm": {"options": {"api_key": "abcd", "api_key_env": "OPENAI_API_KEY", "max_tokens": 9}},
        "tools": {"mcp": [{"url": "https://me:pass@host/x", "headers": {"X": "y"}, "token": "t"}]},
        "serve": {"tls_key": "k.pem", "port": 8765},
    }
    hidden = settings.without_secrets(given)
    text = yaml.safe_dump(hidden)
    for secret in ("abcd", "me:pass", "k.pem", "'y'", ": y", ": t\n"):
        assert secret not in text
    assert "OPENAI_API_KEY" in text
    assert "max_tokens: 9" in text
    assert f"https://{HIDDEN}@host/x" in text


def test_secrets_of_the_environment_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    config = loader.load(profile="openai", environment={})
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-cloud")
    monkeypatch.setenv("S2S_API_KEY", "of-this-server")
    found = settings.secrets_of(config, "given", None)
    assert {"sk-of-the-cloud", "of-this-server", "given"} <= set(found)
