"""A conversation's items: their words, and names that no two share."""

from __future__ import annotations

import pytest

from s2s.core.items import (
    ItemPart,
    MessageItem,
    SoundPart,
    TextPart,
    answer_item_id,
    call_item_id,
    user_item_id,
)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        ((TextPart(" one "), TextPart("two")), "one\ntwo"),
        ((SoundPart("said"), TextPart(" "), TextPart("written")), "said\nwritten"),
        ((SoundPart(None), SoundPart("")), ""),
    ],
)
def test_its_words_are_those_of_its_parts(parts: tuple[ItemPart, ...], text: str) -> None:
    assert MessageItem("item_1", "user", parts).text == text


def test_a_response_and_its_item_are_told_apart_by_their_names() -> None:
    assert answer_item_id("resp_7") == "msg_7"
    assert user_item_id("s1-1") == "item_s1-1"
    assert len({answer_item_id("resp_x"), user_item_id("x"), call_item_id("call_x")}) == 3
