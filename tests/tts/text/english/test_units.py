"""English units."""

from __future__ import annotations

import pytest

from s2s.tts.text.english.units import read_rates, read_units
from tests.support.rewriting import rewritten


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 km", "five kilometers"),
        ("1 kg", "one kilogram"),
        ("50%", "fifty percent"),
        ("20 °C", "twenty degrees Celsius"),
        ("5'11\"", "five feet eleven inches"),
        ("10 m/s", "ten meters per second"),
        ("3 m²", "three square meters"),
        ("48° 51′", "forty-eight degrees fifty-one minutes"),
        ("5GB", "five gigabytes"),
        ("1 ms", "one millisecond"),
        ("20A", "twenty amps"),
        ("1 m", "one meter"),
    ],
)
def test_a_unit_is_said(text: str, said: str) -> None:
    assert rewritten(read_units, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 in", "3 in"),
        ("5 apples", "5 apples"),
        ("km", "km"),
    ],
)
def test_a_word_is_no_unit(text: str, said: str) -> None:
    assert rewritten(read_units, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dollars/month", "dollars per month"),
        ("five km", "five kilometers"),
        ("some kg", "some kilograms"),
        ("and/or", "and/or"),
    ],
)
def test_units_after_words(text: str, said: str) -> None:
    assert rewritten(read_rates, text) == said
