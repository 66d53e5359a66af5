"""Names of currencies and units in languages without rules."""

from __future__ import annotations

import pytest

from s2s.tts.text.currencies import CODES
from s2s.tts.text.other_nouns import currencies, units


@pytest.mark.parametrize(
    ("language", "code", "name"),
    [
        ("nl", "CHF", "Zwitserse frank"),
        ("ko", "$", "달러"),
        ("ru", "GBP", "фунтов"),
        ("nl", "CLP", None),
        ("sw", "CHF", "franc"),
    ],
)
def test_the_table_of_a_language_or_the_international_one(
    language: str, code: str, name: str | None
) -> None:
    assert currencies(language).get(code) == name


@pytest.mark.parametrize("language", ["ko", "ru", "nl", "pl", "tr", "sw"])
def test_signs_are_names_in_every_language(language: str) -> None:
    names = currencies(language)
    assert {"EUR", "USD", "$", "¢"} <= set(names)
    assert set(names) <= {*CODES, "$", "¢"}
    assert all(name and name == name.strip() for name in names.values())


def test_units_are_there_where_the_language_has_a_table() -> None:
    assert units("nl")["km/h"] == "kilometer per uur"
    assert units("ru")["°"] == "градусов"
    assert units("sw") == {}
