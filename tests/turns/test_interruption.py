"""Speech during playback, decided without models: scripted evidence and any order of inputs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.turns.interruption import (
    Cancel,
    Decision,
    Duck,
    InterruptionConfig,
    InterruptionRules,
    Restore,
    Resume,
    Rule,
)

MS = 16
WINDOW = 512
START = 10_000 * MS


def playing(config: InterruptionConfig | None = None) -> InterruptionRules:
    machine = InterruptionRules(config)
    machine.begin(0)
    return machine


def speak(
    machine: InterruptionRules, duration_ms: int, *, start: int = START, probability: float = 0.9
) -> list[Decision]:
    """Speech without a break from `start` on; it goes on afterwards."""
    decisions = machine.onset(start)
    for sample in range(start + WINDOW, start + duration_ms * MS + 1, WINDOW):
        decisions += machine.window(sample, (sample - start) / MS, probability)
    return decisions


def kinds(decisions: list[Decision]) -> list[str]:
    return [type(decision).__name__ for decision in decisions]


def test_speech_ducks_at_once_and_long_speech_cancels_within_half_a_second() -> None:
    machine = playing()
    decisions = speak(machine, 1000)
    assert decisions[0] == Duck(START)
    assert kinds(decisions) == ["Duck", "Cancel"]
    assert decisions[1].sample - START <= 500 * MS + WINDOW
    assert not machine.replying
    assert machine.awaiting_words


def test_nothing_happens_while_nothing_is_said_by_the_assistant() -> None:
    machine = InterruptionRules()
    assert speak(machine, 1000) == []
    assert machine.words(START + 20_000, "Stop!") == []
    assert machine.ended(START + 20_000) == []


@pytest.mark.parametrize("text", ["Stop.", "Wait a minute."])
def test_a_stop_word_cancels_at_once_and_for_good(text: str) -> None:
    machine = playing()
    speak(machine, 200)
    (decision,) = machine.words(START + 210 * MS, text)
    assert decision == Cancel(START + 210 * MS, "stop word")
    assert not machine.awaiting_words
    assert machine.tick(START + 60_000 * MS) == []


def test_words_with_content_cancel_before_the_deadline() -> None:
    machine = playing()
    speak(machine, 300)
    assert kinds(machine.words(START + 310 * MS, "What about Paris")) == ["Cancel"]


def test_a_nod_restores_when_it_ends() -> None:
    machine = playing()
    assert kinds(speak(machine, 300)) == ["Duck"]
    assert machine.words(START + 310 * MS, "Mm-hmm.") == []
    assert machine.ended(START + 400 * MS) == [Restore(START + 400 * MS, "backchannel")]
    assert machine.replying


def test_a_long_nod_restores_at_the_deadline() -> None:
    machine = playing()
    speak(machine, 400)
    machine.words(START + 410 * MS, "yeah yeah")
    assert machine.tick(START + 500 * MS) == [Restore(START + 500 * MS, "backchannel")]


@pytest.mark.parametrize("duration_ms", [32, 96, 160])
def test_a_cough_restores_as_soon_as_it_is_over(duration_ms: int) -> None:
    machine = playing()
    speak(machine, duration_ms)
    end = START + (duration_ms + 64) * MS
    assert machine.ended(end) == [Restore(end, "too short")]


def test_a_short_word_is_waited_for_until_the_deadline() -> None:
    machine = playing()
    speak(machine, 320)
    assert machine.ended(START + 384 * MS) == []
    assert machine.tick(START + 499 * MS) == []
    assert machine.tick(START + 500 * MS) == [Restore(START + 500 * MS, "unsure")]


def test_a_short_stop_whose_transcript_comes_late_still_cancels() -> None:
    machine = playing()
    speak(machine, 320)
    machine.ended(START + 384 * MS)
    machine.tick(START + 500 * MS)
    assert kinds(machine.words(START + 700 * MS, "Stop.")) == ["Cancel"]


def test_speech_that_goes_on_after_a_restore_cancels() -> None:
    machine = playing()
    decisions = speak(machine, 1200, probability=0.75)
    assert kinds(decisions) == ["Duck", "Restore", "Cancel"]
    assert decisions[2] == Cancel(START + 928 * MS, "went on")


def test_yeah_but_cancels() -> None:
    machine = playing()
    speak(machine, 400)
    machine.words(START + 400 * MS, "Yeah")
    assert kinds(machine.tick(START + 500 * MS)) == ["Restore"]
    assert kinds(machine.words(START + 800 * MS, "Yeah but what")) == ["Cancel"]


def test_the_reply_resumes_when_no_words_come() -> None:
    machine = playing()
    speak(machine, 600)
    quiet = START + 700 * MS
    assert machine.ended(quiet) == []
    assert machine.tick(quiet + 1999 * MS) == []
    assert machine.tick(quiet + 2000 * MS) == [Resume(quiet + 2000 * MS, "no words came")]
    assert machine.replying


def test_it_does_not_resume_into_speech_that_lasts() -> None:
    machine = playing()
    assert kinds(speak(machine, 6000)) == ["Duck", "Cancel"]
    assert machine.awaiting_words


def test_a_cancel_by_what_proves_to_be_a_nod_resumes() -> None:
    machine = playing()
    speak(machine, 600)
    assert machine.words(START + 620 * MS, "yeah yeah yeah") == []
    assert kinds(machine.ended(START + 700 * MS)) == ["Resume"]


def test_words_after_a_cancel_end_the_reply() -> None:
    machine = playing()
    speak(machine, 600)
    machine.words(START + 620 * MS, "What is the")
    assert not machine.awaiting_words
    machine.ended(START + 900 * MS)
    assert machine.tick(START + 9000 * MS) == []


def test_words_from_before_the_reply_are_ignored() -> None:
    machine = playing()
    speak(machine, 200)
    assert machine.words(START + 210 * MS, "tell me a story", onset=START - 30_000) == []
    assert machine.deciding


def test_old_words_do_not_decide_the_next_speech() -> None:
    machine = playing()
    speak(machine, 300)
    machine.words(START + 310 * MS, "Mm-hmm.")
    machine.ended(START + 400 * MS)
    again = START + 5000 * MS
    assert kinds(speak(machine, 600, start=again)) == ["Duck", "Cancel"]


def test_half_duplex_hears_nothing() -> None:
    machine = playing(InterruptionConfig(half_duplex=True))
    assert speak(machine, 2000) == []
    assert machine.words(START + 3000 * MS, "Stop") == []
    assert machine.replying


def test_the_end_of_the_reply_ends_the_decision() -> None:
    machine = playing()
    speak(machine, 200)
    assert machine.end(START + 210 * MS) == []
    assert not machine.deciding
    assert machine.words(START + 300 * MS, "Stop") == []


def test_a_new_reply_takes_the_place_of_a_cancelled_one() -> None:
    machine = playing()
    speak(machine, 600)
    machine.ended(START + 700 * MS)
    machine.begin(START + 800 * MS)
    assert machine.tick(START + 9000 * MS) == []


def test_the_table_can_be_changed() -> None:
    rules = (Rule("never mind", "restore", None, ("ended", "deadline")), Rule("", "wait"))
    machine = playing(InterruptionConfig(rules=rules))
    assert kinds(speak(machine, 1000)) == ["Duck", "Restore"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: InterruptionConfig(rules=()),
        lambda: InterruptionConfig(rules=(Rule("words", "cancel", "content"),)),
        lambda: InterruptionConfig(decide_ms=0),
    ],
)
def test_a_wrong_config_is_refused(make: Callable[[], InterruptionConfig]) -> None:
    with pytest.raises(ValueError, match=r"rule|positive"):
        make()


# --- any order of inputs -------------------------------------------------------------------------

TEXTS = ["", "Mm-hmm.", "yeah", "(coughs)", "Stop", "What about Paris", "no, wait"]

_act = st.tuples(
    st.sampled_from(["begin", "end", "onset", "window", "words", "ended", "tick"]),
    st.integers(min_value=0, max_value=1500 * MS),
    st.floats(0.0, 1.0),
    st.sampled_from(TEXTS),
)


def feed(
    machine: InterruptionRules, act: str, sample: int, evidence: tuple[float, float, str]
) -> list[Decision]:
    active_ms, probability, text = evidence
    match act:
        case "begin":
            return machine.begin(sample)
        case "end":
            return machine.end(sample)
        case "onset":
            return machine.onset(sample)
        case "window":
            return machine.window(sample, active_ms, probability)
        case "words":
            return machine.words(sample, text)
        case "ended":
            return machine.ended(sample)
        case _:
            return machine.tick(sample)


@settings(max_examples=500, deadline=None)
@given(st.lists(_act, max_size=40), st.booleans())
def test_decisions_are_well_formed(
    acts: list[tuple[str, int, float, str]], half_duplex: bool
) -> None:
    machine = InterruptionRules(InterruptionConfig(half_duplex=half_duplex))
    sample, onset = 0, 0
    ducked, replying, resumable = False, False, False
    for act, later, probability, text in acts:
        sample += later
        onset = sample if act == "onset" else onset
        decisions = feed(machine, act, sample, ((sample - onset) / MS, probability, text))
        for decision in decisions:
            assert decision.sample == sample
            match decision:
                case Duck():
                    assert replying, "ducked although nothing is said"
                    ducked = True
                case Restore():
                    assert ducked, "restored although not ducked"
                    ducked = False
                case Cancel():
                    assert replying, "cancelled although nothing is said"
                    replying, ducked, resumable = False, False, True
                case Resume():
                    assert resumable, "resumed although nothing was cancelled"
                    replying, resumable = True, False
        if act == "begin":
            replying, resumable = True, resumable and replying
        if act == "end":
            replying, ducked = False, False
        assert machine.replying == replying
        assert machine.deciding <= ducked
        assert not (half_duplex and decisions)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(min_value=32, max_value=3000),
    st.floats(0.0, 1.0),
    st.lists(st.tuples(st.integers(0, 3000), st.sampled_from(TEXTS)), max_size=4),
)
def test_every_onset_is_decided_within_half_a_second_and_never_left_ducked(
    duration_ms: int, probability: float, texts: list[tuple[int, str]]
) -> None:
    machine = playing()
    decisions = machine.onset(START)
    spoken = False
    for sample in range(START + WINDOW, START + 8000 * MS, WINDOW):
        elapsed_ms = (sample - START) / MS
        if elapsed_ms <= duration_ms:
            decisions += machine.window(sample, elapsed_ms, probability)
        elif not spoken:
            spoken = True
            decisions += machine.ended(sample)
        for at_ms, text in texts:
            if elapsed_ms - 32 <= at_ms < elapsed_ms:
                decisions += machine.words(sample, text)
        decisions += machine.tick(sample)
    first = decisions[1]
    assert isinstance(first, (Restore, Cancel))
    assert first.sample - START <= 500 * MS + WINDOW
    assert not machine.deciding
    said_something = any(text in ("What about Paris", "Stop", "no, wait") for _, text in texts)
    if not said_something:
        assert machine.replying or machine.awaiting_words, "a reply was lost without words"


def test_a_paused_reply_goes_on_when_nothing_more_is_heard() -> None:
    machine = InterruptionRules()
    machine.begin(0)
    machine.onset(1_000)
    machine.window(9_500, 500.0, 0.95)
    assert machine.awaiting_words
    assert [type(each) for each in machine.stalled(9_500)] == [Resume]
    machine.onset(20_000)
    assert [type(each) for each in machine.stalled(22_000)] == [Restore]


@pytest.mark.parametrize(("active_ms", "decided"), [(300.0, Restore), (450.0, Cancel)])
def test_a_short_word_is_a_nod_only_when_it_is_said_briefly(
    active_ms: float, decided: type[Decision]
) -> None:
    machine = InterruptionRules()
    machine.begin(0)
    machine.onset(START)
    machine.window(START + 400 * MS, active_ms, 0.9)
    machine.ended(START + 400 * MS)
    assert [type(each) for each in machine.words(START + 450 * MS, "Her.")] == [decided]


def test_words_that_may_still_change_do_not_cancel() -> None:
    machine = InterruptionRules()
    machine.begin(0)
    machine.onset(START)
    machine.window(START + 300 * MS, 300.0, 0.9)
    assert machine.words(START + 300 * MS, "Ride", stable="") == []
    decided = machine.words(START + 400 * MS, "Ride a bike", stable="Ride a bike")
    assert [type(each) for each in decided] == [Cancel]


@pytest.mark.parametrize(("text", "resumed"), [("Yeah.", True), ("", True), ("Paris.", False)])
def test_a_paused_reply_waits_for_the_transcript_and_no_longer(text: str, resumed: bool) -> None:
    machine = playing()
    speak(machine, 500)
    machine.tick(START + 500 * MS)
    assert machine.awaiting_words
    machine.ended(START + 564 * MS)
    assert machine.awaiting_words
    assert kinds(machine.words(START + 600 * MS, text)) == (["Resume"] if resumed else [])
    assert not machine.awaiting_words
