"""The command `config`: settings as they can be read again."""

from __future__ import annotations

import pytest
import yaml

from s2s.app.commands.config import show_config
from s2s.config.loader import as_dict, load
from s2s.config.schema import sections
from s2s.core.setting import documented

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_the_config_is_shown_as_it_can_be_read_with_a_comment_for_each_setting(
    capsys: pytest.CaptureFixture[str],
):
    config = load(environment={})
    assert show_config(config) == 0
    shown = capsys.readouterr().out
    assert yaml.safe_load(shown) == yaml.safe_load(yaml.safe_dump(as_dict(config)))
    for section in sections().values():
        for name, text in documented(section).items():
            assert f"# {text}" in shown or not text, name
