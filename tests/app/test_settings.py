"""The settings of all layers, and the flags that each set one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from s2s.app import cli
from s2s.app.settings import SHORTCUTS, VOICE_SHORTCUTS, settings
from s2s.config import loader as config
from s2s.config import registry, typed
from s2s.config.typed import SettingError
from s2s.core.untyped import is_mapping

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_the_environment_may_name_profile_and_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "mine.yaml"
    file.write_text("session: {history_turns: 3}", encoding="utf-8")
    monkeypatch.setenv("S2S_CONFIG", str(file))
    monkeypatch.setenv("S2S_PROFILE", "embedded")
    assert cli.main(["config"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["session"]["history_turns"] == 3


def test_every_shortcut_names_a_setting():
    qwen3 = typed.field_types(registry.config_class(registry.find("tts", "qwen3")))
    assert {key.partition(".")[2] for key, _ in VOICE_SHORTCUTS.values()} <= set(qwen3)
    for flag, (key, text) in SHORTCUTS.items():
        assert text
        section, name = key.split(".")
        known = typed.field_types(config.sections()[section])
        options = typed.field_types(registry.config_class(registry.find("tts", "hibari")))
        assert name in known or (section == "tts" and name in options), flag


def test_flags_are_over_the_profile_and_the_file(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text("session: {history_turns: 3, language: de}", encoding="utf-8")
    given = ["say", "Hi.", "--config", str(file), "--set", "session.history_turns=5"]
    made = settings(cli.parse([*given, "--speed", "1.5", "--tts", "hibari"]))
    assert (made.session.history_turns, made.session.language) == (5, "de")
    options = typed.plain(made.tts.options)
    assert is_mapping(options)
    assert options["speed"] == 1.5
    with pytest.raises(SettingError, match=r"name a setting as section.key=value"):
        settings(cli.parse(["say", "Hi.", "--set", "novalue"]))
