"""What the commands show."""

from __future__ import annotations

import pytest

from s2s.app.terminal import download_bars, megabytes, print_table


def test_a_download_is_told_once_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with download_bars() as progress:
        for done in (0, 500_000, 1_000_000):
            progress("a.bin", done, 1_000_000)
        progress("b.bin", 0, 2_500_000)
    assert capsys.readouterr().err == "fetching a.bin (1.0 MB)\nfetching b.bin (2.5 MB)\n"


def test_without_a_download_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with download_bars():
        pass
    assert capsys.readouterr() == ("", "")


def test_a_table_is_never_cut_off_and_takes_brackets_for_what_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "/a/[bold]path/" * 30
    print_table(("name", "path"), [("x", long), ("longer", "y")])
    told = capsys.readouterr().out.splitlines()
    assert told[1].split() == ["x", long]
    assert told[2].split() == ["longer", "y"]


def test_a_size_is_told_as_people_read_it() -> None:
    assert megabytes(98_362_432) == "98.4 MB"
