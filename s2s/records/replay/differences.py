"""What differs between a conversation as it was and as it is held again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from s2s.core.events import (
    Event,
    Heard,
    Interruption,
    NothingHeard,
    ResponseDone,
    SpeechDropped,
    StopHeard,
    TakenBack,
)
from s2s.records.report.parts import moment
from s2s.records.stages import typical
from s2s.records.story import GivenAnswer, SaidTurn, Story

NEAR_S = 1.0
"""Turns that begin within it of each other are the same turn."""


@dataclass(frozen=True, slots=True)
class TurnPair:
    """A turn then and now; None where there is none."""

    then: SaidTurn | None
    now: SaidTurn | None

    @property
    def began_s(self) -> float:
        either = self.then or self.now
        return 0.0 if either is None else either.began_s


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What is told of a pair: each as it was and as it is now."""

    at_s: float
    words: tuple[str, str]
    over_ms: tuple[str, str]
    """From the end of speech until the turn was found to be over."""
    first_sound_ms: tuple[str, str]
    outcome: tuple[str, str]

    @property
    def differs(self) -> bool:
        """In more than times."""
        return self.words[0] != self.words[1] or self.outcome[0] != self.outcome[1]


def decisions(events: Iterable[tuple[float, Event]]) -> list[str]:
    """What was decided, in order, without times and numbers of turns: two conversations with equal
    decisions went the same way."""
    found: list[str] = []
    for _, event in events:
        match event:
            case Heard(final=True, text=text):
                found.append(f"heard: {text}")
            case NothingHeard():
                found.append("nothing heard")
            case StopHeard(text=text):
                found.append(f"stop: {text}")
            case SpeechDropped(text=text, reason=reason):
                found.append(f"dropped: {text} ({reason})")
            case TakenBack(heard=heard):
                found.append(f"taken back: {heard}")
            case Interruption(action=action, reason=reason):
                found.append(f"interruption: {action} ({reason})")
            case ResponseDone(status=status, played=played):
                found.append(f"answer {status}: {played}")
            case _:
                pass
    return found


def paired(then: Story, now: Story) -> list[TurnPair]:
    """The turns of both, in order; those that begin together are one pair."""
    left = list(now.turns)
    pairs: list[TurnPair] = []
    for turn in then.turns:
        near = min(left, key=lambda each: abs(each.began_s - turn.began_s), default=None)
        if near is not None and abs(near.began_s - turn.began_s) <= NEAR_S:
            left.remove(near)
        else:
            near = None
        pairs.append(TurnPair(turn, near))
    pairs += [TurnPair(None, turn) for turn in left]
    return sorted(pairs, key=lambda pair: pair.began_s)


def rows(then: Story, now: Story) -> list[TurnRow]:
    """A row for each turn."""
    found: list[TurnRow] = []
    for pair in paired(then, now):
        sides = [_side(then, pair.then), _side(now, pair.now)]
        words, over, sound, outcome = zip(*sides, strict=True)
        found.append(TurnRow(pair.began_s, words, over, sound, outcome))
    return found


def summary(then: Story, now: Story) -> list[tuple[str, str, str]]:
    """(what, then, now) of the whole conversation."""

    def counted(story: Story) -> list[str]:
        timelines = [a.timeline for a in story.answers if a.timeline is not None]
        latency = typical(timelines)
        return [
            str(len(story.turns)),
            str(len(story.answers)),
            str(sum(answer.status == "cancelled" for answer in story.answers)),
            str(len(story.of_kind("taken back"))),
            str(sum(bool(turn.unanswered) for turn in story.turns)),
            "–" if latency is None else f"{latency[0]:.0f} ms",
            "–" if latency is None else f"{latency[1]:.0f} ms",
        ]

    names = ("turns", "answers", "interrupted", "taken back", "not answered",
             "first sound after, median", "first sound after, p95")  # fmt: skip
    return list(zip(names, counted(then), counted(now), strict=True))


def as_html(
    then: Story, now: Story, changes: Mapping[str, tuple[object, object]], same: bool
) -> str:
    """The differences as a section of a page."""
    verdict = "Every decision is the same." if same else "Not every decision is the same."
    changed = (
        "".join(
            f"<tr><td>{escape(key)}</td><td>{escape(str(old))}</td><td>{escape(str(new))}</td></tr>"
            for key, (old, new) in changes.items()
        )
        or '<tr><td colspan="3" class="faint">nothing: the settings of the record</td></tr>'
    )
    whole = "".join(
        f'<tr{_class(old == new)}><td>{name}</td><td class="number">{old}</td>'
        f'<td class="number">{new}</td></tr>'
        for name, old, new in summary(then, now)
    )
    return (
        f"<h2>What would differ</h2><p>{verdict}</p>"
        f"<table><tr><th>setting</th><th>then</th><th>now</th></tr>{changed}</table>"
        '<table><tr><th>all of it</th><th class="number">then</th><th class="number">now</th></tr>'
        f"{whole}</table>"
        '<table class="moments"><tr><th>turn</th><th>then</th><th>now</th></tr>'
        f"{''.join(map(_row, rows(then, now)))}</table>"
    )


def _row(row: TurnRow) -> str:
    cells = "".join(
        f'<td>{escape(words) or "–"}<br><span class="outcome">{escape(outcome)}; over after '
        f"{over}, first sound after {sound}</span></td>"
        for words, over, sound, outcome in zip(
            row.words, row.over_ms, row.first_sound_ms, row.outcome, strict=True
        )
    )
    return f"<tr{_class(not row.differs)}><td>{moment(row.at_s)}</td>{cells}</tr>"


def _class(same: bool) -> str:
    return ' class="same"' if same else ""


def _side(story: Story, turn: SaidTurn | None) -> tuple[str, str, str, str]:
    if turn is None:
        return "", "–", "–", "no turn"
    answers = story.answers_to(turn)
    answer = answers[-1] if answers else None
    outcome = turn.unanswered or "no answer"
    if answer is not None:
        outcome = f"{answer.status}: {answer.played.strip()}".rstrip(": ")
    return turn.text.strip(), _ms(answer, "endpoint"), _ms(answer, "first_played"), outcome


def _ms(answer: GivenAnswer | None, point: str) -> str:
    if answer is None or answer.timeline is None:
        return "–"
    value = answer.timeline.since_speech_ms().get(point)
    return "–" if value is None else f"{value:.0f} ms"


def as_text(found: Sequence[TurnRow]) -> list[str]:
    """Lines for a terminal: the turns that went another way."""
    lines: list[str] = []
    for row in found:
        if row.differs:
            lines.append(f"{moment(row.at_s)}  then  {row.words[0] or '–'}  [{row.outcome[0]}]")
            lines.append(
                f"{' ' * len(moment(row.at_s))}  now   {row.words[1] or '–'}  [{row.outcome[1]}]"
            )
    return lines
