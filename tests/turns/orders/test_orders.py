"""Orders to the turns stage: the talk key, the wake word, the stop phrase."""

from __future__ import annotations

import pytest

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.events import SpeechStarted, StopHeard
from s2s.core.messages import Speech, SttInput, TalkKey, WakeWord
from s2s.core.speculation import Verdict
from tests.turns.test_handler import SILENCE, VOICE, Rig, finals

LOUDER = 2 * VOICE


def key(rig: Rig, down: bool) -> list[SttInput]:
    return list(rig.handler.process(TalkKey(down)))


def wake(rig: Rig, windows_ago: int) -> list[SttInput]:
    end_sample = rig.sample - windows_ago * BLOCK_SAMPLES
    return list(rig.handler.process(WakeWord(end_sample)))


def stops(rig: Rig) -> list[StopHeard]:
    return [event for event in rig.events if isinstance(event, StopHeard)]


# --- the talk key --------------------------------------------------------------------------------


def test_while_the_key_is_down_a_pause_ends_nothing() -> None:
    rig = Rig()
    key(rig, True)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    rig.read(speech, "what time is it now please.")
    rig.hear(SILENCE, 280)
    assert rig.state.turns.verdict(speech.turn) is Verdict.PENDING
    (longer,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 5))
    assert longer.turn.turn_id == speech.turn.turn_id


def test_letting_go_ends_the_turn_at_once() -> None:
    rig = Rig(complete=0.01)
    key(rig, True)
    rig.hear(VOICE, 30)
    (speech,) = finals(key(rig, False))
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    rig.read(speech, "and then the")
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST, "its words hold nothing back"


def test_letting_go_in_a_pause_ends_the_turn_that_had_paused() -> None:
    rig = Rig(complete=0.01)
    key(rig, True)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 20))
    assert finals(key(rig, False)) == []
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST


def test_a_pause_that_is_too_long_ends_the_turn_though_the_key_is_down() -> None:
    rig = Rig(complete=0.01)
    key(rig, True)
    (speech,) = finals(rig.hear(VOICE, 30) + rig.hear(SILENCE, 330))
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST


def test_the_next_turn_after_the_key_is_one_of_its_own() -> None:
    rig = Rig(complete=0.01)
    key(rig, True)
    rig.hear(VOICE, 30)
    (first,) = finals(key(rig, False))
    assert rig.state.turns.commit(first.turn)
    rig.hear(SILENCE, 10)
    key(rig, True)
    rig.hear(VOICE, 30)
    (second,) = finals(key(rig, False))
    assert second.turn.turn_id != first.turn.turn_id


# --- the wake word -------------------------------------------------------------------------------


def test_words_in_the_same_breath_are_kept_and_the_wake_word_is_not() -> None:
    rig = Rig()
    rig.hear(SILENCE, 10, attended=False)
    rig.hear(LOUDER, 25, attended=False)  # the wake word, and five windows of what follows
    assert [each for each in rig.events if isinstance(each, SpeechStarted)] == []
    sent = rig.hear(VOICE, 5, attended=False) + wake(rig, 5) + rig.hear(VOICE, 20)
    (speech,) = finals(sent + rig.hear(SILENCE, 2))
    voiced = speech.audio[: 25 * BLOCK_SAMPLES]
    assert voiced.max() == pytest.approx(0.2), "nothing of the wake word"
    assert voiced.min() == pytest.approx(0.2), "and all of what follows"
    assert speech.speech_stopped_at_s == pytest.approx(60 * 0.032)


def test_the_wake_word_alone_is_no_turn() -> None:
    rig = Rig()
    rig.hear(LOUDER, 25, attended=False)
    rig.hear(SILENCE, 5, attended=False)
    sent = wake(rig, 5) + rig.hear(SILENCE, 300)
    assert sent == []
    assert rig.handler.quiet


def test_said_again_while_awake_it_does_not_reach_the_model() -> None:
    rig = Rig()
    sent = rig.hear(LOUDER, 25) + rig.hear(SILENCE, 5)
    (word,) = finals(sent)
    rig.floor.done.clear()
    rest = wake(rig, 5) + rig.hear(VOICE, 20) + rig.hear(SILENCE, 5)
    assert rig.floor.done[:2] == ["interrupt", f"forget {word.turn.turn_id}"]
    (speech,) = finals(rest)
    assert speech.turn.turn_id != word.turn.turn_id
    assert speech.audio.max() == pytest.approx(0.2)


def test_over_an_answer_it_interrupts() -> None:
    rig = Rig()
    rig.floor.playing = True
    rig.hear(VOICE, 25)
    rig.floor.done.clear()
    rig.floor.playing = False  # as the interruption will leave it
    wake(rig, 2)
    assert rig.floor.done[0] == "interrupt"


def test_in_the_middle_of_a_sentence_it_is_only_mentioned() -> None:
    rig = Rig()
    rig.hear(VOICE, 100)
    rig.floor.done.clear()
    assert wake(rig, 5) == []
    assert rig.floor.done == []
    (speech,) = finals(rig.hear(SILENCE, 2))
    assert len(speech.audio) >= 100 * BLOCK_SAMPLES


def test_what_was_asked_before_it_is_not_forgotten() -> None:
    rig = Rig(complete=0.01)
    (asked,) = finals(rig.hear(VOICE, 60) + rig.hear(SILENCE, 10))
    rig.hear(LOUDER, 25)
    rig.floor.done.clear()
    wake(rig, 2)
    assert rig.floor.done == ["interrupt"]
    (speech,) = finals(rig.hear(VOICE, 20) + rig.hear(SILENCE, 2))
    assert speech.turn.turn_id != asked.turn.turn_id


# --- the stop phrase -----------------------------------------------------------------------------


def said(rig: Rig, text: str, windows: int = 20) -> Speech:
    (speech,) = finals(rig.hear(VOICE, windows) + rig.hear(SILENCE, 2))
    rig.read(speech, text)
    return speech


@pytest.mark.parametrize("text", ["Stop.", "stop it", "Okay, stop!", "Be quiet.", "Stopp"])
def test_a_turn_that_is_only_the_stop_phrase_is_not_answered(text: str) -> None:
    rig = Rig()
    speech = said(rig, text)
    rig.floor.done.clear()
    while not stops(rig):
        assert rig.state.turns.verdict(speech.turn) is Verdict.PENDING
        rig.hear(SILENCE, 1)
    assert stops(rig) == [StopHeard(speech.turn, text)]
    assert rig.floor.done == ["interrupt", f"forget {speech.turn.turn_id}"]
    rig.hear(SILENCE, 400)
    assert len(stops(rig)) == 1


@pytest.mark.parametrize("text", ["Stop the music.", "Where is the bus stop?", "What time is it?"])
def test_a_turn_with_more_in_it_is(text: str) -> None:
    rig = Rig()
    speech = said(rig, text)
    rig.hear(SILENCE, 150)
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    assert stops(rig) == []


def test_who_goes_on_after_it_said_something_else() -> None:
    rig = Rig()
    said(rig, "Stop.")
    rig.hear(SILENCE, 10)
    speech = said(rig, "Stop. The music please.")
    assert speech.turn.turn_revision == 1
    rig.hear(SILENCE, 150)
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    assert stops(rig) == []


def test_after_a_question_that_was_not_answered_yet_it_takes_the_question_back() -> None:
    rig = Rig(complete=0.01)
    said(rig, "Tell me a story.", 40)
    rig.hear(SILENCE, 10)
    speech = said(rig, "Tell me a story. Stop.")
    assert speech.turn.turn_revision == 1
    rig.hear(SILENCE, 40)
    assert [event.turn for event in stops(rig)] == [speech.turn]


def test_after_a_question_of_the_assistant_it_is_an_answer() -> None:
    rig = Rig()
    rig.floor.asks = True
    speech = said(rig, "Stop.")
    rig.hear(SILENCE, 150)
    assert rig.state.turns.verdict(speech.turn) is Verdict.LATEST
    assert stops(rig) == []
