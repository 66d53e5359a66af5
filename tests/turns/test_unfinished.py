"""What the last words say about the end of a turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.unfinished import (
    LANGUAGES,
    MAYBE_MORE,
    NEVER_LAST,
    RARELY_LAST,
    TRAILS_OFF,
    WHOLE_ANSWER,
    log_odds,
)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Turn off the lights in the kitchen and", "en", NEVER_LAST),
        ("Turn off the lights and.", None, NEVER_LAST),
        ("I'd like, um,", "en", NEVER_LAST),
        ("So I was thinking that maybe...", "en", TRAILS_OFF),
        ("I was going to —", None, TRAILS_OFF),
        ("I would like to book a table for", "en", RARELY_LAST),
        ("My number is five five", "en", MAYBE_MORE),
        ("My number is 555 12", None, MAYBE_MORE),
        ("three point", "en", NEVER_LAST),
        ("First, I went home,", "en", MAYBE_MORE),
        ("Turn off the lights.", "en", 0.0),
        ("What is the capital of France?", "en", 0.0),
        ("Yes.", None, WHOLE_ANSWER),
        ("Yes, but", "en", NEVER_LAST),
        ("Stop!", "en", WHOLE_ANSWER),
        ("Mach das Licht aus und", "de", NEVER_LAST),
        ("Mach das Licht aus", "de", 0.0),
        ("Nein.", "de", WHOLE_ANSWER),
        ("Je voudrais une", "fr", NEVER_LAST),
        ("D'accord.", "fr", WHOLE_ANSWER),
        ("Quiero ir a la", "es", NEVER_LAST),
        ("Vorrei andare con", "it", RARELY_LAST),
        ("Eu queria um", "pt", NEVER_LAST),
        ("Ik wil graag een", "nl", NEVER_LAST),
        ("我想去北京然后", None, NEVER_LAST),
        ("谢谢", None, WHOLE_ANSWER),
        ("明日は晴れだけど", None, NEVER_LAST),
        ("はい。", "ja", WHOLE_ANSWER),
        ("", None, 0.0),
        ("...", None, TRAILS_OFF),
        ("?!", None, 0.0),
        ("und", "xx", 0.0),
    ],
)
def test_last_words(text: str, language: str | None, expected: float) -> None:
    assert log_odds(text, language) == expected


@given(st.text(max_size=60), st.sampled_from([None, "xx", *LANGUAGES]))
def test_any_text_gives_bounded_evidence(text: str, language: str | None) -> None:
    assert NEVER_LAST <= log_odds(text, language) <= WHOLE_ANSWER
