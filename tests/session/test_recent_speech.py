"""What the assistant said lately."""

from __future__ import annotations

from s2s.core.events import AnswerText
from s2s.core.messages import ResponseId
from s2s.session.recent_speech import RECENT_PIECES, RecentSpeech

RESPONSE = ResponseId("t", 0, 0, "r")


def after(*pieces: str) -> RecentSpeech:
    recent = RecentSpeech()
    for piece in pieces:
        recent.on_event(AnswerText(RESPONSE, piece))
    return recent


def test_a_question_is_one_while_it_is_what_was_said_last() -> None:
    assert not after().ends_in_question
    assert after("I see. ", "Shall I turn it on? ").ends_in_question
    assert not after("Shall I turn it on? ", "Or not. ").ends_in_question


def test_its_own_words_are_known_across_pieces_and_forgotten_after_a_while() -> None:
    words = "the weather tomorrow will be fine"
    said = ("I think the weather ", "tomorrow will be fine and warm. ")
    assert after(*said).echoes(words)
    assert not after(*said).echoes("tell me about the moon then")
    later = [f"Piece number {n} of something else. " for n in range(RECENT_PIECES)]
    assert not after(*said, *later).echoes(words)
