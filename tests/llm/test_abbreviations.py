"""Whether a full stop ends a sentence."""

from __future__ import annotations

import pytest

from s2s.llm.abbreviations import ends_sentence

ENDS = [
    ("It is late", "W"), ("So do I", "W"), ("He came at 5 p.m", "T"), ("and so on etc", "T"),
    ("He said no", "T"), ("It was in 1990", "T"), ("a house", "L"), ("We met there", "i"),
    ("There were 12", "W"), ("", "W"),
]  # fmt: skip
GOES_ON = [
    ("I saw Mr", "S"), ("Dr", "W"), ("e.g", "a"), ("It is J", "S"), ("the U.S", "t"),
    ("at 5 p.m", "a"), ("See fig", "3"), ("Look at no", "5"), ("1", "W"), ("First:\n  2", "T"),
    ("am 3", "O"), ("z.B", "e"), ("Calle Sra", "G"), ("", "w"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "following"), ENDS)
def test_it_ends_a_sentence(before: str, following: str) -> None:
    assert ends_sentence(before, following)


@pytest.mark.parametrize(("before", "following"), GOES_ON)
def test_it_belongs_to_what_is_before_it(before: str, following: str) -> None:
    assert not ends_sentence(before, following)
