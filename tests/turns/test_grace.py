"""How long a pause must last: the witnesses joined, the curve, decisions at sample positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.turns.endpoint import to_log_odds
from s2s.turns.grace import (
    EAGERNESS,
    EndEvidence,
    GraceConfig,
    Judgement,
    completeness,
    decided_ms,
    grace_ms,
)
from s2s.turns.unfinished import log_odds

CONFIG = GraceConfig()
ODDS = st.floats(-9.0, 9.0)
SURE, UNSURE = EndEvidence(9.0, 3.0, 8.0), EndEvidence(-9.0, -4.0, -8.0)


def by_words(text: str) -> EndEvidence:
    return EndEvidence(None, log_odds(text), None)


def test_the_grace_has_the_ends_that_were_configured() -> None:
    assert grace_ms(SURE, CONFIG) == CONFIG.complete_ms
    assert grace_ms(UNSURE, CONFIG) == CONFIG.incomplete_ms == 2000
    assert grace_ms(by_words(""), CONFIG) == CONFIG.silence_ms == 700


@given(ODDS, ODDS, st.none() | ODDS, st.none() | ODDS)
def test_the_grace_falls_as_the_turn_is_surer_to_be_over(
    a: float, b: float, words: float | None, model: float | None
) -> None:
    low, high = sorted((a, b))
    waits = [grace_ms(EndEvidence(sound, words, model), CONFIG) for sound in (low, high)]
    assert waits[0] >= waits[1]
    assert all(CONFIG.complete_ms <= wait <= CONFIG.incomplete_ms for wait in waits)


@given(ODDS, ODDS, ODDS)
def test_each_witness_counts(sound: float, words: float, model: float) -> None:
    known = completeness(EndEvidence(sound, words, model))
    assert known is not None
    for more in (
        EndEvidence(sound + 1.0, words, model),
        EndEvidence(sound, words + 1.0, model),
        EndEvidence(sound, words, model + 1.0),
    ):
        surer = completeness(more)
        assert surer is not None
        assert surer > known


@given(st.floats(-8.9, 8.9), st.floats(-6.0, 3.0), ODDS)
def test_the_grace_has_no_cliff(sound: float, words: float, model: float) -> None:
    """A tenth of log-odds never changes the wait by more than a fifth of it."""
    evidence = EndEvidence(sound, words, model)
    more = EndEvidence(sound + 0.1, words, model)
    assert grace_ms(evidence, CONFIG) <= 1.2 * grace_ms(more, CONFIG) + 1


@pytest.mark.parametrize("sound", [None, to_log_odds(0.9), to_log_odds(0.97)])
@pytest.mark.parametrize("model", [None, -3.0])
def test_a_trailing_and_is_waited_for(sound: float | None, model: float | None) -> None:
    said = "Turn off all of the lights"
    cut = EndEvidence(sound, log_odds(f"{said} and"), model)
    whole = EndEvidence(sound, log_odds(f"{said}."), None if model is None else 1.0)
    assert grace_ms(cut, CONFIG) >= 1500
    assert grace_ms(whole, CONFIG) <= 700


def test_without_a_model_a_whole_answer_is_answered_soon() -> None:
    assert grace_ms(by_words("Yes."), CONFIG) == 175


def test_the_three_manners_are_in_order() -> None:
    for probability in (0.05, 0.5, 0.7, 0.9, 0.97):
        evidence = EndEvidence(to_log_odds(probability), 0.0, 0.0)
        low, medium, high = (
            grace_ms(evidence, EAGERNESS[name]) for name in ("low", "medium", "high")
        )
        assert low >= medium >= high


def test_a_bias_moves_it() -> None:
    middle = EndEvidence(1.0, 0.5, 0.5)
    assert grace_ms(middle, GraceConfig(bias=-1.0)) > grace_ms(middle, CONFIG)


@pytest.mark.parametrize(
    "wrong",
    [
        {"curve": ((0.0, 2000),)},
        {"curve": ((1.0, 2000), (0.0, 100))},
        {"curve": ((0.0, 100), (1.0, 2000))},
        {"curve": ((0.0, 2000), (1.0, -1))},
        {"silence_ms": 5000},
        {"silence_ms": 50},
        {"ask_again_ms": (300, 200)},
        {"ask_again_ms": (0, 200)},
    ],
)
def test_a_wrong_config_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        GraceConfig(**wrong)  # pyright: ignore[reportArgumentType]


def test_no_wait_at_all_can_be_configured() -> None:
    config = GraceConfig(curve=((0.0, 0), (1.0, 0)), silence_ms=0)
    assert grace_ms(EndEvidence(0.0, 0.0, 0.0), config) <= 1
    assert grace_ms(by_words(""), config) <= 1


# --- decisions -----------------------------------------------------------------------------------

AGAIN = GraceConfig(
    curve=((0.0, 2000), (1.0, 1000), (2.0, 400), (3.0, 200)), ask_again_ms=(500, 900)
)


def sounds(*odds: float | None) -> list[Judgement]:
    """Judgements whose sum with words and model, chosen so that they add nothing, is what it is."""
    return [Judgement(ms, each) for ms, each in zip((64, *AGAIN.ask_again_ms), odds, strict=False)]


@given(st.lists(ODDS, min_size=1, max_size=3), ODDS, st.none() | ODDS)
def test_a_later_judgement_never_changes_what_was_decided(
    odds: list[float], words: float, model: float | None
) -> None:
    judgements = sounds(*odds)
    decided = [
        decided_ms(judgements[:count], words, model, AGAIN)
        for count in range(1, len(judgements) + 1)
    ]
    known = [wait for wait in decided if wait is not None]
    assert all(wait == known[0] for wait in known)
    assert decided == [None] * (len(decided) - len(known)) + known
    if len(judgements) == 3:
        assert known


@given(st.lists(ODDS, min_size=1, max_size=3), ODDS, ODDS)
def test_a_turn_is_never_over_before_the_judgement_that_says_so(
    odds: list[float], words: float, model: float
) -> None:
    judgements = sounds(*odds)
    wait = decided_ms(judgements, words, model, AGAIN)
    if wait is not None:
        last = max(each.silence_ms for each in judgements if each.silence_ms <= wait)
        assert wait >= last
        earlier = (
            decided_ms([each for each in judgements if each.silence_ms < last], words, model, AGAIN)
            if last > 64
            else None
        )
        assert earlier is None


def test_without_a_model_of_the_sound_nothing_is_asked_again() -> None:
    assert decided_ms(sounds(None), -4.0, -8.0, AGAIN) == 2000
