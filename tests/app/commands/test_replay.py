"""The flags of `replay`."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.commands.table import COMMANDS
from s2s.app.settings import given_flags


def test_its_flags() -> None:
    options = cli.parse(["replay", "records/one", "--stt", "faster-whisper", "--answers", "fresh"])
    assert (options.folder, options.answers, options.report) == (
        Path("records/one"),
        "fresh",
        False,
    )
    assert given_flags(options) == [("--stt", "stt.backend", "faster-whisper")]
    assert COMMANDS["replay"].module == "replay"


def test_it_wants_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parse(["replay"])
    assert "folder" in capsys.readouterr().err
