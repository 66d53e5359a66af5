"""The decoder: how far a draft holds, and when a text is over."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.stt.moonshine_model import END, Hypothesis, confirmed, decode, lead


def test_a_draft_holds_as_far_as_the_model_agrees() -> None:
    logits = np.eye(5, dtype=np.float32)[[3, 1, 4, 0]]
    assert confirmed(logits, [3, 1, 4]) == 3
    assert confirmed(logits, [3, 2, 4]) == 1
    assert confirmed(logits, []) == 0


def test_the_lead_is_over_the_best_other() -> None:
    row = np.array([1.0, 3.0, 2.5], dtype=np.float32)
    assert lead(row, 1) == pytest.approx(0.5)
    assert lead(row, 0) == pytest.approx(-2.0)


class SpellingModel:
    """Writes the tokens of `words`, whatever the sound, and counts its passes. A row of logits is
    the token that follows as many as there are in the cache."""

    def __init__(self, words: list[int], doubt_at: int | None = None) -> None:
        self.words = [*words, END]
        self.doubt_at = doubt_at
        self.passes = 0

    def row(self, at: int, *, cached: bool) -> np.ndarray:
        logits = np.zeros(50, np.float32)
        logits[self.words[min(at, len(self.words) - 1)]] = 9.0
        if not cached and at == self.doubt_at:
            logits[3] = 8.9
        return logits

    def encode(self, audio: Block) -> np.ndarray:
        return np.zeros((1, 1, 288), np.float32)

    def begin(
        self, hidden: object, samples: int, tokens: list[int]
    ) -> tuple[np.ndarray, list[int]]:
        self.passes += 1
        return np.stack([self.row(at, cached=False) for at in range(len(tokens))]), [len(tokens)]

    def step(self, state: list[int], token: int) -> np.ndarray:
        self.passes += 1
        state[0] += 1
        return self.row(state[0] - 1, cached=True)

    def cut(self, state: list[int], tokens: int) -> None:
        state[0] = tokens


def written(model: SpellingModel, draft: tuple[int, ...] = (), limit: int = 40) -> list[int]:
    audio = np.zeros(1600, np.float32)
    return decode(model, audio, limit, draft, lambda: False).tokens  # pyright: ignore


WORDS = [5, 6, 7, 8]


@pytest.mark.parametrize("draft", [(), (5,), (5, 6, 7), (5, 9, 7), (9,), (5, 6, 7, 8)])
def test_a_draft_changes_nothing_but_the_work(draft: tuple[int, ...]) -> None:
    alone, drafted = SpellingModel(WORDS), SpellingModel(WORDS)
    assert written(drafted, draft) == written(alone) == WORDS
    assert drafted.passes <= alone.passes


def test_a_choice_that_is_too_close_is_decided_afresh() -> None:
    model = SpellingModel(WORDS, doubt_at=2)
    assert written(model, (5, 6)) == WORDS
    assert model.passes == 1 + 5


def test_it_ends_at_its_limit_when_stopped_and_where_it_repeats_itself() -> None:
    assert written(SpellingModel(WORDS), limit=2) == [5, 6]
    stopped = decode(SpellingModel(WORDS), np.zeros(1600, np.float32), 9, (), lambda: True)  # type: ignore
    assert stopped.tokens == []
    assert len(written(SpellingModel([5, 6, 5, 6] * 40), limit=200)) < 60


def test_how_sure_it_was_is_kept_for_the_end_too() -> None:
    words = Hypothesis()
    logits = np.zeros(4, np.float32)
    assert words.mean_log_prob == 0.0
    assert words.add(3, logits)
    assert not words.add(END, logits)
    assert words.tokens == [3]
    assert words.log_probs == pytest.approx([-np.log(4)] * 2)
    assert words.mean_log_prob == pytest.approx(-np.log(4))
