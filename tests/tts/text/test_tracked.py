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
