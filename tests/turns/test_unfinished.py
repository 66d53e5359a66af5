"""What a text so far says about the end of a turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.unfinished import (
    EACH_MISSING_WORD,
    LANGUAGES,
    MAYBE_MORE,
    NEVER_LAST,
    NO_STOP_WRITTEN,
    QUESTION_WRITTEN,
    RARELY_LAST,
    STOP_WRITTEN,
    TRAILS_OFF,
    WHOLE_ANSWER,
    log_odds,
)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("turn off all of the lights and", "en", NEVER_LAST),
        ("Turn off all of the lights and", "en", NEVER_LAST + NO_STOP_WRITTEN),
        ("Turn off all of the lights and.", None, NEVER_LAST + STOP_WRITTEN),
        ("well i would really like, um", "en", NEVER_LAST),
        ("So I was thinking that maybe...", "en", TRAILS_OFF),
        ("I was going to —", None, TRAILS_OFF),
        ("i would like to book a table for", "en", RARELY_LAST),
        ("the number of my house is five", "en", MAYBE_MORE),
        ("My number is five five 555 12", None, MAYBE_MORE + NO_STOP_WRITTEN),
        ("the answer is exactly three point", "en", NEVER_LAST),
        ("First, I went all the way home,", "en", NO_STOP_WRITTEN),
        ("Turn off all of the lights.", "en", STOP_WRITTEN),
        ('She said "turn off all lights."', "en", STOP_WRITTEN),
        ("What is the capital of France?", "en", QUESTION_WRITTEN),
        ("turn it off", "en", 2 * EACH_MISSING_WORD),
        ("Yes.", None, WHOLE_ANSWER),
        ("Stop!", "en", WHOLE_ANSWER),
        ("yes but", "en", NEVER_LAST + 3 * EACH_MISSING_WORD),
        ("mach bitte das licht aus und", "de", NEVER_LAST),
        ("mach bitte das licht aus", "de", 0.0),
        ("Nein.", "de", WHOLE_ANSWER),
        ("je voudrais bien acheter une", "fr", NEVER_LAST),
        ("D'accord.", "fr", WHOLE_ANSWER),
        ("ahora quiero ir a la", "es", NEVER_LAST),
        ("oggi vorrei andare al mare con", "it", RARELY_LAST),
        ("hoje eu queria comprar um", "pt", NEVER_LAST),
        ("ik wil graag even een", "nl", NEVER_LAST),
        ("我想去北京然后", None, NEVER_LAST),
        ("谢谢", None, WHOLE_ANSWER),
        ("明日は晴れだけど", None, NEVER_LAST),
        ("はい。", "ja", WHOLE_ANSWER),
        ("", None, 0.0),
        ("...", None, TRAILS_OFF),
        ("?!", None, 0.0),
        ("und und und und und", "xx", 0.0),
    ],
)
def test_what_a_text_proves(text: str, language: str | None, expected: float) -> None:
    assert log_odds(text, language) == pytest.approx(expected)


@given(st.text(max_size=60), st.sampled_from([None, "xx", *LANGUAGES]))
def test_any_text_gives_bounded_evidence(text: str, language: str | None) -> None:
    assert -8.0 <= log_odds(text, language) <= WHOLE_ANSWER
