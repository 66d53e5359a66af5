"""Rewriting that keeps the way back."""

from __future__ import annotations

import re

import pytest

from s2s.tts.text.tracked import Tracked


def test_substitution_maps_its_inside_to_its_start() -> None:
    text = Tracked("ab12cd")
    text.sub(re.compile(r"\d+"), "TWELVE")
    spoken = text.finish()
    assert spoken.text == "abTWELVEcd"
    assert spoken.origin == (0, 1, 2, 2, 2, 2, 2, 2, 4, 5, 6)


def test_a_kept_group_keeps_its_places() -> None:
    text = Tracked("x[ab](u)y")
    text.keep(re.compile(r"\[(.*?)\]\(.*?\)"))
    spoken = text.finish()
    assert spoken.text == "xaby"
    assert spoken.origin == (0, 2, 3, 8, 9)


def test_rewrites_compose() -> None:
    text = Tracked("5 km")
    text.sub(re.compile("km"), "kilometers")
    text.sub(re.compile("5 kilometers"), "far")
    assert text.finish().origin == (0, 0, 0, 4)


def test_white_space_around_is_cut_but_counted() -> None:
    spoken = Tracked("  a  ").finish()
    assert spoken.text == "a"
    assert spoken.heard(1) == "  a  "


def test_a_translation_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        Tracked("a").translate({ord("a"): "bb"})


def test_a_group_alone_is_replaced() -> None:
    text = Tracked("call 12 now")
    text.sub(re.compile(r"call (\d+)"), "one two", 1)
    spoken = text.finish()
    assert spoken.text == "call one two now"
    assert spoken.heard(len("call")) == "call"
    assert spoken.heard(len("call one two")) == "call 12"


def test_what_is_bound_is_told_at_once() -> None:
    text = Tracked("a -5 b")
    text.sub(re.compile(r"\d"), "five")
    text.bind(re.compile("-"))
    text.sub(re.compile("-"), "minus ")
    spoken = text.finish()
    assert spoken.text == "a minus five b"
    assert [spoken.heard(n) for n in (1, 7, 11, 12)] == ["a", "a ", "a ", "a -5"]


def test_parts_join_to_the_same_text() -> None:
    text = Tracked("One two. Three four five six seven eight nine ten.")
    text.sub(re.compile("two"), "2222")
    expected = (text.text, text.finish().origin)
    parts = text.parts(12)
    assert max(len(part.text) for part in parts) <= 12
    text.join(parts)
    assert (text.text, text.finish().origin) == expected


def test_parts_are_rewritten_each_for_itself() -> None:
    text = Tracked("ab ab ab ab")
    parts = text.parts(6)
    for part in parts:
        part.sub(re.compile("ab"), "long")
    text.join(parts)
    spoken = text.finish()
    assert spoken.text == "long long long long"
    assert spoken.heard(len("long long")) == "ab ab"
