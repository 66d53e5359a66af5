"""What looks like a number and is none is spelled; what is one stays."""

from __future__ import annotations

import pytest

from s2s.tts.text.digit_words import DIGIT_WORDS
from s2s.tts.text.identifiers import Spelling, read_identifiers
from s2s.tts.text.names import SIGN_NAMES
from tests.support.rewriting import rewritten

ENGLISH = Spelling(DIGIT_WORDS["en"], SIGN_NAMES["en"], "plus")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0xFF", "zero X F F"),
        ("#1a2b3c", "one A two B three C"),
        ("f3a9b2c", "F three A nine B two C"),
        ("00:1b:44:11:3a:b7", "zero zero, one B, four four, one one, three A, B seven"),
        ("call 555 0199", "call five five five, zero one nine nine"),
        ("+49 30 123456", "plus four nine, three zero, one two three four five six"),
        ("code 0420", "code zero four two zero"),
        ("tel. 030 1234", "tel. zero three zero, one two three four"),
        ("192.168.0.1:80", "one nine two dot one six eight dot zero dot one colon eight zero"),
        (
            "1234567890123456",
            "one two three four, five six seven eight, nine zero one two, three four five six",
        ),
        (
            "4111 1111 1111 1111",
            "four one one one, one one one one, one one one one, one one one one",
        ),
        (
            "ISBN 978-3-16-148410-0",
            "ISBN nine seven eight, three, one six, one four eight four one zero, zero",
        ),
    ],
)
def test_an_identifier_is_spelled(text: str, said: str) -> None:
    assert rewritten(read_identifiers, text, ENGLISH) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abc", "abc"),
        ("in 1990", "in 1990"),
        ("the 2nd", "the 2nd"),
        ("A4", "A4"),
        ("10km", "10km"),
        ("2,345", "2,345"),
        ("facade", "facade"),
        ("1.000.000", "1.000.000"),
        ("2024-05-06", "2024-05-06"),
    ],
)
def test_a_number_or_a_word_stays(text: str, said: str) -> None:
    assert rewritten(read_identifiers, text, ENGLISH) == said


def test_addresses_of_machines_stay_where_they_are_read_elsewhere() -> None:
    assert rewritten(read_identifiers, "192.168.0.1", ENGLISH, addresses=False) == "192.168.0.1"


@pytest.mark.parametrize(
    "text", ["550e8400-e29b-41d4-a716-446655440000", "DE89 3704 0044 0532 0130 00"]
)
def test_of_a_long_one_no_digit_is_lost(text: str) -> None:
    said = rewritten(read_identifiers, text, ENGLISH)
    assert not any(char.isdigit() for char in said)
    spelled = said.replace(",", "").split()
    assert len(spelled) == sum(char.isalnum() for char in text)


def test_groups_and_runs_have_pauses() -> None:
    assert ENGLISH.spell("a1-B2") == "A one B two"
    assert ENGLISH.groups("12 34") == "one two, three four"
    assert ENGLISH.in_fours("123456789").count(",") == 2
