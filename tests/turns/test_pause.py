"""One pause: when it is decided, whatever the order in which the witnesses speak."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.grace import EndEvidence, GraceConfig, grace_ms
from s2s.turns.pause import WINDOW_MS, TurnPause
from s2s.turns.unfinished import log_odds

CONFIG = GraceConfig()
AGAIN = replace(CONFIG, ask_again_ms=(300, 900))
END = 16_000
SURE, DOUBTFUL = 6.0, -6.0


def at(silence_ms: int) -> int:
    """The sample of the session after so much silence."""
    return END + 16 * silence_ms


def pause(config: GraceConfig = CONFIG) -> TurnPause:
    return TurnPause(END, config, "en")


def sure_ms() -> int:
    """What a whole sentence waits that sounds complete."""
    words = log_odds("It is late.", "en")
    return grace_ms(EndEvidence(SURE, words, None), CONFIG)


def test_nothing_is_decided_before_sound_and_words_are_known() -> None:
    turn = pause()
    assert turn.decided_ms() is None
    turn.judged(SURE, 64)
    assert turn.decided_ms() is None
    turn.text = "It is late."
    assert turn.decided_ms() is None  # the language model reads it still
    turn.judged_text = "It is late."
    assert turn.decided_ms() == sure_ms() < CONFIG.silence_ms


def test_a_pause_without_words_is_decided_by_its_sound() -> None:
    turn = pause()
    turn.judged(DOUBTFUL, 64)
    turn.text = "  "
    assert turn.decided_ms() == CONFIG.incomplete_ms


def test_the_order_of_the_witnesses_does_not_matter() -> None:
    def tell(turn: TurnPause, what: str) -> None:
        if what == "sound":
            turn.judged(0.5, 64)
        elif what == "words":
            turn.text = "I would like"
        else:
            turn.judged_text, turn.model = "I would like", -0.5

    found = set()
    for order in permutations(("sound", "words", "model")):
        turn = pause()
        for what in order:
            tell(turn, what)
        found.add(turn.decided_ms())
    assert len(found) == 1
    assert None not in found


def test_it_ends_with_the_window_that_no_later_one_can_change() -> None:
    turn = pause()
    turn.judged(SURE, 64)
    turn.text = turn.judged_text = "It is late."
    wait_ms = sure_ms()
    assert turn.ends_by(at(wait_ms - WINDOW_MS - 1)) is None
    assert turn.ends_by(at(wait_ms - WINDOW_MS + 1)) == wait_ms


def test_missing_evidence_does_not_hold_it_open_for_longer_than_the_longest_wait() -> None:
    turn = pause()
    turn.judged(SURE, 64)
    assert turn.ends_by(at(CONFIG.incomplete_ms - WINDOW_MS)) is None
    assert turn.ends_by(at(CONFIG.incomplete_ms)) == CONFIG.incomplete_ms
    assert turn.expected_ms() == CONFIG.incomplete_ms


def test_a_provisional_start_needs_all_evidence_however_long_it_lasts() -> None:
    turn = pause()
    turn.judged(SURE, 64)
    assert turn.begins_by(at(10_000), CONFIG) is None
    turn.text = turn.judged_text = "It is late."
    assert turn.begins_by(at(10_000), CONFIG) == sure_ms()
    assert turn.begins_by(at(0), CONFIG) is None


def test_the_sound_is_judged_again_at_its_places() -> None:
    turn = pause(AGAIN)
    assert not turn.asks(at(5000))  # never judged yet
    turn.judged(DOUBTFUL, 64)
    assert not turn.asks(at(299))
    assert turn.asks(at(300))
    turn.judged(DOUBTFUL, 300)
    assert not turn.asks(at(600))
    assert turn.asks(at(900))
    turn.judged(DOUBTFUL, 900)
    assert not turn.asks(at(5000))


def test_without_a_model_of_sound_nothing_is_judged_again() -> None:
    turn = pause(AGAIN)
    turn.judged(None, 64)
    assert not turn.asks(at(5000))
    over = pause(AGAIN)
    over.judged(DOUBTFUL, 64)
    over.over = True
    assert not over.asks(at(5000))


@given(sound=st.floats(-9, 9), heard_ms=st.integers(0, 4000))
def test_it_never_ends_before_its_silence_was_all_but_heard(sound: float, heard_ms: int) -> None:
    turn = pause()
    turn.judged(sound, 64)
    turn.text = ""
    wait_ms = turn.ends_by(at(heard_ms))
    if wait_ms is not None:
        assert CONFIG.complete_ms <= wait_ms < heard_ms + WINDOW_MS
    else:
        assert heard_ms + WINDOW_MS <= CONFIG.incomplete_ms


@pytest.mark.parametrize("silence_ms", [0, 32, 1000])
def test_silence_is_counted_in_samples(silence_ms: int) -> None:
    assert pause().silence_ms(at(silence_ms)) == silence_ms
