"""The command `erase`: everything that is kept, told and deleted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.app import cli
from s2s.app.keeping.kept import NAMES
from s2s.models.store import home
from s2s.turns.speaker.enrolment import VoicePrint, write_enrolled

pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture
def kept() -> Path:
    vectors = np.eye(2, 8, dtype=np.float32)
    write_enrolled(home(), VoicePrint(vectors, "speaker", 9.0))
    for name in ("models/ear/a.bin", "kernels/k.so", "tls/key.pem", "audio/echo.txt"):
        path = home() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1000)
    (home() / "hers").write_text("x")
    return home()


def test_all_that_there_is_is_told_and_nothing_deleted(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(kept.rglob("*"))
    assert cli.main(["erase", "--list"]) == 0
    shown = capsys.readouterr().out
    for text in ("voiceprint: ", "models: 1.0 kB", "caches: 2.0 kB", "certificates: ", "my-voice"):
        assert text in shown
    assert "left alone, not of this program" in shown
    assert sorted(kept.rglob("*")) == before


def test_everything_goes_but_what_is_another_programs(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["erase", "--yes"]) == 0
    assert [path.name for path in kept.iterdir()] == ["hers"]
    shown = capsys.readouterr().out
    assert "deleted: voiceprint, models, caches, certificates;" in shown
    assert cli.main(["erase", "--yes"]) == 0
    assert "nothing to erase" in capsys.readouterr().out
    assert cli.main(["erase", "--list"]) == 0
    assert "nothing is kept" in capsys.readouterr().out


def test_only_what_was_asked_for_goes(kept: Path) -> None:
    assert cli.main(["erase", "--only", "voiceprint", "--only", "certificates", "--yes"]) == 0
    assert sorted(path.name for path in kept.iterdir()) == ["audio", "hers", "kernels", "models"]


def test_nobody_who_confirms_keeps_all(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["erase"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert (kept / "my-voice.json").exists()


def test_a_kind_that_there_is_not_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["erase", "--only", "everything"])
    assert ended.value.code == 2
    assert all(name in capsys.readouterr().err for name in NAMES[:1])
