"""The flag `--record` sets where conversations are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.settings import settings


@pytest.mark.parametrize("command", ["talk", "serve"])
def test_it_sets_the_folder(command: str, tmp_path: Path) -> None:
    assert settings(cli.parse([command])).record.folder is None
    config = settings(cli.parse([command, "--record", str(tmp_path)]))
    assert config.record.folder == tmp_path


def test_with_a_server_it_is_the_server_that_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--url", "ws://localhost:1", "--record", str(tmp_path)]) == 2
    assert "give it there" in capsys.readouterr().err
