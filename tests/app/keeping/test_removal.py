"""What is to go is told and confirmed, and stays where a running program uses it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from s2s.app.keeping.removal import KeptError, Removal, delete, remove, size_bytes, told_size
from s2s.models.in_use import InUse


@pytest.fixture
def thing(tmp_path: Path) -> Removal:
    folder = tmp_path / "models" / "ear"
    folder.mkdir(parents=True)
    (folder / "a.bin").write_bytes(b"x" * 1500)
    (tmp_path / "ear.json").write_bytes(b"y" * 500)
    return Removal("ear", (folder, tmp_path / "ear.json"))


def test_what_goes_is_told_and_goes(
    thing: Removal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert remove(tmp_path, [thing], sure=True) == 0
    assert not (tmp_path / "models" / "ear").exists()
    assert not (tmp_path / "ear.json").exists()
    shown = capsys.readouterr().out
    assert str(tmp_path / "ear.json") in shown
    assert "deleted: ear; 2.0 kB are free" in shown


@pytest.mark.parametrize(
    ("answer", "goes"), [("y", True), (" Yes ", True), ("n", False), ("", False)]
)
def test_it_is_asked_for(thing: Removal, tmp_path: Path, answer: str, goes: bool) -> None:
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    assert remove(tmp_path, [thing], sure=False, ask=ask) == (0 if goes else 1)
    assert asked == ["Delete 2.0 kB? [y/N] "]
    assert thing.paths[0].exists() is not goes


def test_the_end_of_input_is_no_yes(thing: Removal, tmp_path: Path) -> None:
    def ask(_: str) -> str:
        raise EOFError

    assert remove(tmp_path, [thing], sure=False, ask=ask) == 1
    assert thing.paths[0].exists()


def test_without_a_terminal_nothing_goes_unasked(
    thing: Removal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(KeptError, match="--yes"):
        remove(tmp_path, [thing], sure=False)
    assert thing.paths[0].exists()


def test_what_is_used_stays_and_all_else_with_it(thing: Removal, tmp_path: Path) -> None:
    other = Removal("other", (tmp_path / "other",))
    (tmp_path / "other").write_text("z")
    uses = InUse(tmp_path)
    uses.hold(tmp_path / "models" / "ear" / "a.bin")
    with pytest.raises(KeptError, match="ear is used by a program that runs"):
        remove(tmp_path, [other, thing], sure=True)
    assert (tmp_path / "other").exists()
    uses.let_go()
    assert remove(tmp_path, [other, thing], sure=True) == 0


def test_what_began_to_be_used_while_it_was_asked_stays(thing: Removal, tmp_path: Path) -> None:
    uses = InUse(tmp_path)

    def ask(_: str) -> str:
        uses.hold(tmp_path / "models" / "ear")
        return "y"

    with pytest.raises(KeptError, match="is used"):
        remove(tmp_path, [thing], sure=False, ask=ask)
    assert (tmp_path / "models" / "ear" / "a.bin").exists()


def test_of_a_link_the_link_goes(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "kept.txt").write_text("kept")
    link = tmp_path / "link"
    link.symlink_to(real)
    assert size_bytes(link) == 0
    delete(link)
    delete(link)
    assert not link.is_symlink()
    assert (real / "kept.txt").exists()


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (2.5e6, "2.5 MB"),
        (3e9, "3.0 GB"),
    ],
)
def test_a_size_is_told_in_the_unit_that_fits(size: float, told: str) -> None:
    assert told_size(int(size)) == told
