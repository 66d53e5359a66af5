"""Signs of currencies and their codes."""

from __future__ import annotations

import pytest

from s2s.tts.text.currencies import CODES, SYMBOLS, code_of, symbol_name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("€", "EUR"),
        ("US$", "USD"),
        ("$", "$"),
        ("Kč", "CZK"),
        ("USD", "USD"),
        ("₳", "₳"),
    ],
)
def test_a_sign_has_a_code(text: str, said: str) -> None:
    assert code_of(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("₳", "austral"),
        ("₿", "bitcoin"),
        ("₺", "turkish lira"),
    ],
)
def test_a_rare_sign_is_called_as_unicode_calls_it(text: str, said: str) -> None:
    assert symbol_name(text) == said


def test_every_sign_stands_for_a_code_or_for_several_currencies() -> None:
    assert {code for code in SYMBOLS.values() if code not in CODES} <= {"$", "¢", "£"} | set(
        SYMBOLS
    )
