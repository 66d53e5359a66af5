"""Pieces for a slow voice, spoken by a simulated one in simulated time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from s2s.tts.pieces import pieces
from s2s.tts.running_cost import FIRST_S, PieceLength, RunningCost

MAX_CHARS = 240
LONG = (
    "Well, there is a lot to say about this, although it may take a while, because the story "
    "begins in the year when the harbour was built, long before anybody living now was born, "
    "and it ends, as far as we know, with a letter that nobody has ever opened."
)


@dataclass
class SlowVoice:
    """Makes a piece in `call_s` and so much a character, and speaks `chars_per_s`."""

    rtf: float
    call_s: float = 0.2
    chars_per_s: float = 14.0
    now_s: float = 100.0
    pieces: list[str] = field(default_factory=list)
    ready_s: list[float] = field(default_factory=list)

    def work_s(self, chars: int) -> float:
        return self.call_s + self.rtf * chars / self.chars_per_s

    def cost(self) -> RunningCost:
        """As it is learnt when the voice is warmed up."""
        cost = RunningCost()
        for chars in (6, 40, 20, 60):
            cost.note(chars, self.work_s(chars), chars / self.chars_per_s)
        return cost

    def speak(self, text: str, wish_of: Callable[[PieceLength], Callable[[], int] | None]) -> None:
        length = PieceLength(self.cost(), lambda: self.now_s)
        began_s = self.now_s
        for piece, _ in pieces(text, MAX_CHARS, wish=wish_of(length)):
            self.now_s += self.work_s(len(piece))
            length.made(len(piece), len(piece) / self.chars_per_s)
            self.pieces.append(piece)
            self.ready_s.append(self.now_s - began_s)

    def silences_s(self) -> list[float]:
        """Silence before each piece but the first, for a listener who hears each when it is
        there."""
        found: list[float] = []
        until_s = self.ready_s[0] + len(self.pieces[0]) / self.chars_per_s
        for piece, ready_s in zip(self.pieces[1:], self.ready_s[1:], strict=True):
            found.append(max(0.0, ready_s - until_s))
            until_s = max(until_s, ready_s) + len(piece) / self.chars_per_s
        return found


def by_cost(length: PieceLength) -> Callable[[], int]:
    return length.wish


def by_sentence(length: PieceLength) -> None:
    return None


words = st.lists(st.sampled_from(["a", "one", "lake", "house", "seven"]), min_size=2, max_size=7)
clauses = words.map(" ".join)
texts = st.lists(
    st.lists(clauses, min_size=1, max_size=6).map(lambda parts: ", ".join(parts) + "."),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(texts, st.floats(0.1, 0.6), st.floats(0.0, 0.3), st.floats(11.0, 17.0))
@example("All right. " + LONG, 0.5, 0.25, 14.0)
def test_a_slow_voice_neither_starts_late_nor_falls_silent(
    text: str, rtf: float, call_s: float, chars_per_s: float
) -> None:
    voice = SlowVoice(rtf, call_s, chars_per_s)
    voice.speak(text, by_cost)
    first = min(len(part) for part in pieces_of_one_clause(text)[:1])
    assert voice.ready_s[0] <= max(1.5 * FIRST_S, voice.work_s(first)) + 1e-9
    for piece, silence_s in zip(voice.pieces[1:], voice.silences_s(), strict=True):
        # Silence is left only where not even one clause could be made in time, and then the piece
        # is no more than that.
        inside = [at for at in range(len(piece) - 1) if piece[at] in ",.;"]
        assert silence_s <= 1e-9 or not inside
    whole = SlowVoice(rtf, call_s, chars_per_s)
    whole.speak(text, by_sentence)
    assert voice.ready_s[0] <= whole.ready_s[0] + 1e-9


def pieces_of_one_clause(text: str) -> list[str]:
    return [piece for piece, _ in pieces(text, MAX_CHARS, wish=lambda: 1)]


@pytest.mark.parametrize("rtf", [0.25, 0.4, 0.5])
def test_a_slow_voice_does_not_run_dry(rtf: float) -> None:
    text = "All right. " + LONG
    by_clauses, whole = SlowVoice(rtf, 0.0), SlowVoice(rtf, 0.0)
    by_clauses.speak(text, by_cost)
    whole.speak(text, by_sentence)
    assert max(whole.silences_s()) > 0.8
    assert max(by_clauses.silences_s()) < 0.35


def test_a_quick_voice_speaks_in_sentences() -> None:
    voice = SlowVoice(0.02, 0.01)
    voice.speak("All right. " + LONG[:130] + ". " + LONG[:90] + ".", by_cost)
    assert len(voice.pieces) == 3


def test_a_voice_that_becomes_slower_is_cut_finer() -> None:
    cost = SlowVoice(0.2).cost()
    before = cost.chars_in(2.0)
    slower = SlowVoice(0.5)
    for chars in (30, 80, 50, 20):
        cost.note(chars, slower.work_s(chars), chars / 14)
    assert cost.chars_in(2.0) < 0.6 * before
    assert cost.real_time_factor > 0.4
    assert cost.work_s(60) == pytest.approx(slower.work_s(60), rel=0.25)


def test_a_piece_can_surely_be_made_in_its_time() -> None:
    cost = SlowVoice(0.5, 0.3).cost()
    for seconds in (0.5, 1.0, 4.0):
        assert cost.work_s(cost.chars_in(seconds)) <= seconds
    assert cost.chars_in(0.0) == 1
    assert cost.chars_in(-5.0) == 1


def test_calls_that_cost_nothing_wish_for_all() -> None:
    cost = RunningCost(0.0, 0.0)
    assert cost.chars_in(1.0) > 10_000
    cost.note(0, 1.0, 0.0)
    cost.note(10, -1.0, 0.0)
    assert cost.work_s(100) == 0.0
    assert cost.real_time_factor == 0.0


def test_what_was_played_meanwhile_is_not_ahead() -> None:
    now_s = [0.0]
    length = PieceLength(SlowVoice(0.5).cost(), lambda: now_s[0])
    assert length.wish() < 20
    now_s[0] = 1.0
    length.made(40, 3.0)
    soon = length.wish()
    now_s[0] = 3.0
    assert length.wish() < soon
    now_s[0] = 60.0
    assert length.wish() == 1, "it fell silent"
    length.made(40, 3.0)
    assert length.wish() > 20, "what is made then is ahead from then on"
