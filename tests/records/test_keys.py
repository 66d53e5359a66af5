"""The same question has the same key, another has another."""

from __future__ import annotations

import numpy as np

from s2s.llm.base import ChatMessage
from s2s.records import keys


def test_sounds() -> None:
    one = np.array([0.25, 0.5], dtype=np.float32)
    assert keys.of_sound(one, "de") == keys.of_sound(one.copy(), "de")
    others = [keys.of_sound(one), keys.of_sound(one, "en"), keys.of_sound(one[:1], "de")]
    assert len({keys.of_sound(one, "de"), *others}) == 4


def test_texts_and_messages() -> None:
    assert keys.of_text("a", "b") != keys.of_text("ab")
    assert keys.of_text("a", None) != keys.of_text("a", "null")
    system, asked = ChatMessage("system", "Be brief."), ChatMessage("user", "Why?")
    assert keys.of_messages([system, asked]) == keys.of_messages((system, asked))
    assert keys.of_messages([asked, system]) != keys.of_messages([system, asked])


def test_what_was_said_last() -> None:
    system, asked = ChatMessage("system", "Be brief."), ChatMessage("user", "Why?")
    assert keys.last_said([system, asked, ChatMessage("assistant", "So.")]) == "Why?"
    assert keys.last_said([system]) == ""
