"""What is said to requests of the memory."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from s2s.llm.memory.replies import REPLIES, replies

ABOUT = {"remembered", "known", "recalled", "forgotten", "more"}


@pytest.mark.parametrize("language", REPLIES)
def test_each_sentence_has_a_place_for_what_it_is_about_where_it_should(language: str) -> None:
    said = REPLIES[language]
    for name in said.__slots__:
        text: str = getattr(said, name)
        assert text.count("{}") == (name in ABOUT), name
        assert text.endswith((".", "。"))
    assert len(set(astuple(said))) == len(said.__slots__)


def test_a_language_that_the_voice_lacks_is_not_spoken() -> None:
    assert replies("de") is REPLIES["de"]
    assert replies("de", ("en", "de")) is REPLIES["de"]
    assert replies("de", ("fr",)) is REPLIES["fr"]
    assert replies("de", ("sv",)) is REPLIES["en"]
