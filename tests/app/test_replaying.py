"""The command `replay`: what would differ; models are loaded when they are needed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import s2s.app.replaying
from s2s.app import cli
from s2s.app.replaying import free_name, once, others_for
from s2s.config import loader
from s2s.models.store import Store
from s2s.records import files
from s2s.testing.simulator import EnergyVad
from tests.support.records import recorded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("records"))[0]


@pytest.fixture(autouse=True)
def energy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Voice activity as the record was made with: that alone is computed anew."""
    monkeypatch.setattr(s2s.app.replaying, "open_vad", lambda name, store: EnergyVad())


def test_with_the_settings_of_the_record_nothing_differs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    assert cli.main(["replay", str(own)]) == 0
    told = capsys.readouterr().out
    assert "Every decision is the same." in told
    assert "interrupted" in told
    page = own / "replay-1.html"
    assert str(page) in told.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert "nothing: the settings of the record" in text
    assert '"name":"then"' in text
    assert '"name":"now"' in text


def test_with_other_settings_it_is_told_what_differs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    (own / "replay-1.html").write_text("of an earlier time")
    assert cli.main(["replay", str(own), "--set", "session.turns.interruption.decide_ms=350"]) == 0
    text = (own / "replay-2.html").read_text(encoding="utf-8")
    assert "session.turns.interruption.decide_ms" in text
    assert "<td>350</td>" in text
    assert "first sound after" in capsys.readouterr().out
    assert (own / "replay-1.html").read_text() == "of an earlier time"


def test_another_language_model_is_not_asked_unless_that_is_wished(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    assert cli.main(["replay", str(own), "--set", "llm.max_tokens=7"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "another model needs --answers fresh" in told
    assert "Every decision is the same." in told


def test_the_page_alone(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    assert cli.main(["replay", str(own), "--report"]) == 0
    assert capsys.readouterr().out.strip() == str(own / files.REPORT)
    assert (own / files.REPORT).is_file()


def test_what_cannot_be_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replay", str(tmp_path)]) == 1
    assert "is no record" in capsys.readouterr().err
    assert cli.main(["replay", str(tmp_path), "--profile", "piper"]) == 2
    assert "the settings of the record" in capsys.readouterr().err


def test_pages_are_never_written_over(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        path = free_name(tmp_path)
        assert path.name == f"replay-{number}.html"
        path.write_text("")


def test_no_model_is_loaded_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> object:
        pytest.fail("a model is loaded")

    for name in ("create_transcriber", "create_chat_model"):
        monkeypatch.setattr(s2s.app.replaying.registry, name, load)
    monkeypatch.setattr(s2s.app.replaying, "create_voice", load)
    config = loader.load(environment={})
    with others_for(config, Store(), fresh=False) as others:
        assert others.chat is None
        assert others.end_of_turn is not None
    with others_for(config, Store(), fresh=True) as others:
        assert others.chat is not None
    silent = replace(config, models=replace(config.models, end_of_turn=None))
    with others_for(silent, Store(), fresh=False) as others:
        assert others.end_of_turn is None


def test_a_model_is_made_once() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    get = once(make)
    assert (get(), get(), made) == (1, 1, [1])
