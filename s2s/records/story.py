"""What happened in a conversation, read off its events: who said what when, and what came of it.

Knows events and timelines alone: a record, a simulation and a server's session are told alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from s2s.core.events import (
    AnswerText,
    Event,
    Heard,
    Interruption,
    MicrophoneState,
    NothingHeard,
    NothingSpoken,
    Notice,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
    SpeechDropped,
    SpeechStarted,
    SpeechStopped,
    StopHeard,
    TakenBack,
    ToolCalled,
    ToolUsed,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.items import user_item_id
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Timeline

MarkKind = Literal["interruption", "dropped", "taken back", "tool", "notice", "failed"]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a moment."""

    at_s: float
    kind: MarkKind
    text: str
    detail: str = ""


@dataclass(slots=True)
class SaidTurn:
    """What the person said, its revisions together."""

    turn_id: str
    spans: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Seconds of speech, without the pauses between; none of what was typed."""
    text: str = ""
    unanswered: str = ""
    """Why nothing answers it; "" where something does, or nothing was decided."""
    told_s: float = 0.0
    """When it was told of first."""

    @property
    def began_s(self) -> float:
        return self.spans[0][0] if self.spans else self.told_s

    @property
    def ended_s(self) -> float:
        return self.spans[-1][1] if self.spans else self.told_s


@dataclass(slots=True)
class GivenAnswer:
    """An answer that began."""

    response: ResponseId
    began_s: float
    """When its first sound was heard; when it began, where none was."""
    ended_s: float | None = None
    """None: it had not ended at the end of the record."""
    text: str = ""
    """All that was written of it so far."""
    played: str = ""
    status: str = "unfinished"
    why: str = ""
    """Of one that was cancelled or failed."""
    timeline: Timeline | None = None


@dataclass(slots=True)
class Story:
    """A conversation."""

    turns: list[SaidTurn] = field(default_factory=list[SaidTurn])
    answers: list[GivenAnswer] = field(default_factory=list[GivenAnswer])
    marks: list[Mark] = field(default_factory=list[Mark])

    def answers_to(self, turn: SaidTurn) -> list[GivenAnswer]:
        """In the order in which they began; mostly one."""
        return [each for each in self.answers if each.response.turn_id == turn.turn_id]

    def of_kind(self, kind: MarkKind) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind == kind]


def told(events: Iterable[tuple[float, Event]], timelines: Sequence[Timeline]) -> Story:
    """The story of `events`, each with its time in seconds."""
    teller = _Teller({timeline.turn: timeline for timeline in timelines})
    for at_s, event in events:
        teller.hear(at_s, event)
    story = teller.story
    story.turns.sort(key=lambda turn: turn.began_s)
    story.answers.sort(key=lambda answer: answer.began_s)
    story.marks.sort(key=lambda mark: mark.at_s)
    return story


class _Teller:
    """Reads events in their order."""

    def __init__(self, timelines: dict[TurnId, Timeline]) -> None:
        self.story = Story()
        self._timelines = timelines
        self._turns: dict[str, SaidTurn] = {}
        self._items: dict[str, str] = {}
        self._answers: dict[ResponseId, GivenAnswer] = {}

    def hear(self, at_s: float, event: Event) -> None:  # noqa: C901  (a case for each event)
        match event:
            case SpeechStarted(turn=turn):
                self._turn(turn.turn_id, at_s).spans.append((event.at_s, event.at_s))
            case SpeechStopped(turn=turn):
                self._stopped(self._turn(turn.turn_id, at_s), event.at_s)
            case Heard(turn=turn, text=text):
                self._turn(turn.turn_id, at_s).text = text
            case TurnTranscript(item_id=item_id, text=text):
                self._turn(self._items.get(item_id, item_id), at_s).text = text
            case NothingHeard(turn=turn):
                self._turn(turn.turn_id, at_s).unanswered = "no words were heard"
            case StopHeard(turn=turn, text=text):
                stopped = self._turn(turn.turn_id, at_s)
                stopped.text, stopped.unanswered = text, "a stop phrase: nothing is to answer it"
            case SpeechDropped(turn=turn, text=text, reason=reason):
                self._dropped(at_s, self._turn(turn.turn_id, at_s), text, reason)
            case ResponseStarted(response=response):
                self._answer(response, at_s)
            case AnswerText(response=response, text=text):
                self._answer(response, at_s).text += text
            case ToolCalled(name=name, arguments=arguments):
                self._mark(at_s, "tool", name or "a tool", arguments)
            case ToolUsed(item=item):
                self._mark(at_s, "tool", item.name, f"{item.arguments}: {item.output}")
            case NothingSpoken(text=text):
                self._mark(at_s, "notice", "nothing of it can be spoken", text)
            case TakenBack(response=response, heard=heard):
                self._mark(at_s, "taken back", "began too early", heard)
                self._answers.pop(response, None)
            case ResponseDone():
                self._done(at_s, event)
            case Interruption(action=action, reason=reason):
                self._mark(at_s, "interruption", action, reason)
            case MicrophoneState(state=state):
                self._mark(at_s, "notice", f"microphone {state}", "")
            case Notice(text=text):
                self._mark(at_s, "notice", text, "")
            case TurnTranscriptFailed(error=error):
                self._mark(at_s, "failed", "words not written down", error)
            case ProvisionalStart() | TurnBegan() | TurnEnded() | TurnCommitted():
                pass
            case _:
                assert_never(event)

    def _turn(self, turn_id: str, at_s: float) -> SaidTurn:
        known = self._turns.get(turn_id)
        if known is None:
            known = self._turns[turn_id] = SaidTurn(turn_id, told_s=at_s)
            self._items[user_item_id(turn_id)] = turn_id
            self.story.turns.append(known)
        return known

    def _stopped(self, turn: SaidTurn, at_s: float) -> None:
        if turn.spans:
            start_s, end_s = turn.spans[-1]
            turn.spans[-1] = (start_s, max(start_s, end_s, at_s))

    def _dropped(self, at_s: float, turn: SaidTurn, text: str, reason: str) -> None:
        turn.text = text or turn.text
        turn.unanswered = reason
        self._mark(at_s, "dropped", "not answered", f"{reason}: {text}" if text else reason)

    def _answer(self, response: ResponseId, at_s: float) -> GivenAnswer:
        known = self._answers.get(response)
        if known is None:
            timeline = self._timelines.get(response.turn)
            began_s = at_s if timeline is None else timeline.marks.get("first_played", at_s)
            known = self._answers[response] = GivenAnswer(response, began_s, timeline=timeline)
            self.story.answers.append(known)
            if (turn := self._turns.get(response.turn_id)) is not None:
                turn.unanswered = ""
        return known

    def _done(self, at_s: float, event: ResponseDone) -> None:
        answer = self._answer(event.response, at_s)
        answer.ended_s = max(at_s, answer.began_s)
        answer.played, answer.status = event.played, event.status
        answer.why = event.error or event.reason or ""
        if event.status == "failed":
            self._mark(at_s, "failed", "failed", event.error or "")

    def _mark(self, at_s: float, kind: MarkKind, text: str, detail: str) -> None:
        self.story.marks.append(Mark(at_s, kind, text, detail))
