"""What the terminal shows of a conversation."""

from __future__ import annotations

import io
from typing import get_args

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from s2s.app.talking.view import MICROPHONE, TAKE_UP_HINT, View
from s2s.core.events import (
    AnswerText,
    Event,
    Heard,
    Interruption,
    Listening,
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
from s2s.core.items import ToolItem
from s2s.core.messages import ResponseId, TurnId

TURN = TurnId("t", 0)


def shown(*events: Event) -> str:
    out = io.StringIO()
    view = View(Console(file=out, highlight=False, width=100))
    for event in events:
        view(event)
    return out.getvalue()


def test_a_stop_phrase_is_shown_with_what_became_of_it() -> None:
    assert shown(StopHeard(TurnId("t", 0), "Stop [b]it[/b].")).split("\n")[:2] == [
        "you  Stop [b]it[/b].",
        "     (stopped)",
    ]


def test_every_state_of_the_microphone_is_shown() -> None:
    assert set(MICROPHONE) == set(get_args(Listening))
    for state, text in MICROPHONE.items():
        assert text in shown(MicrophoneState(state))


@pytest.mark.parametrize(("state", "key"), [("muted", "m "), ("waiting", "Space")])
def test_a_shut_microphone_says_which_key_opens_it(state: Listening, key: str) -> None:
    assert key in MICROPHONE[state]


RESPONSE = ResponseId("t", 0, 0, "r")

SHOWN: list[tuple[Event, str]] = [
    (SpeechStarted(TURN, 0.0), ""),
    (SpeechStopped(TURN, 1.0), ""),
    (Heard(TURN, "what time", final=False), ""),
    (Heard(TURN, "what time is it", final=True), "you  what time is it\n"),
    (NothingHeard(TURN), "     (no words were heard)\n"),
    (StopHeard(TURN, "Stop it."), "you  Stop it.\n     (stopped)\n"),
    (MicrophoneState("muted"), f"     {MICROPHONE['muted']}\n"),
    (
        SpeechDropped(TURN, "hello", "another voice"),
        f"     (not answered: “hello” another voice; {TAKE_UP_HINT})\n",
    ),
    (ProvisionalStart(RESPONSE), ""),
    (TakenBack(RESPONSE, "It is"), "     (began too early: go on)\n"),
    (ResponseStarted(RESPONSE), ""),
    (AnswerText(RESPONSE, " It is\nnoon. "), "s2s  It is noon.\n"),
    (AnswerText(RESPONSE, " "), ""),
    (ToolCalled(RESPONSE, "clock", "{}"), "     (wants to call clock: {})\n"),
    (
        ToolUsed(RESPONSE, ToolItem("i", "c", "clock", "{}", "noon")),
        "     (clock: noon)\n",
    ),
    (NothingSpoken(RESPONSE, "x"), "     (nothing of this can be spoken)\n"),
    (ResponseDone(RESPONSE, "cancelled", ""), ""),
    (ResponseDone(RESPONSE, "failed", "", "no model"), "     failed: no model\n"),
    (Interruption("duck", 0), ""),
    (Interruption("cancel", 0, "stop word"), "     (interrupted: stop word)\n"),
    (TurnBegan("item_t", 0), ""),
    (TurnEnded("item_t", 900), ""),
    (TurnCommitted("item_t", None), ""),
    (TurnTranscript("item_t", "what time", "what time", final=True), ""),
    (TurnTranscriptFailed("item_t", "no model"), ""),
    (Notice("[red]lost[/red]"), "[red]lost[/red]\n"),
]


@pytest.mark.parametrize(("event", "text"), SHOWN, ids=lambda value: type(value).__name__)
def test_what_is_shown_of_an_event(event: Event, text: str) -> None:
    assert shown(event) == text


def test_every_event_is_in_the_table_above() -> None:
    assert set(get_args(Event)) == {type(event) for event, _ in SHOWN}


def test_a_failed_answer_is_remembered() -> None:
    shows = View(Console(file=io.StringIO()))
    assert not shows.failed
    shows(ResponseDone(RESPONSE, "failed", "", "no model"))
    assert shows.failed


def terminal(width: int = 40) -> tuple[View, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, highlight=False, width=width, force_terminal=True, no_color=True)
    return View(console), out


def test_the_line_that_is_typed_stands_below_all_that_is_told() -> None:
    view, out = terminal()
    view.typing("what ab")
    view(AnswerText(RESPONSE, "It is noon."))
    below = Text.from_ansi(out.getvalue().split("It is noon.")[1].strip()).plain
    assert below.strip() == "type what ab▏"
    view(Heard(TURN, "what time", final=False))
    assert "what time" not in out.getvalue(), "one line is being written, and that is the person's"
    view.typing(None)
    assert out.getvalue().endswith(" " * 39 + "\r")
    view(Heard(TURN, "what time", final=False))
    assert "what time" in out.getvalue()


def test_of_a_long_line_the_end_is_shown_and_never_more_than_a_row() -> None:
    view, out = terminal(20)
    view.typing("你好" * 30 + "end")
    shown = out.getvalue().rstrip("\r")
    assert "end▏" in shown
    assert cell_len(Text.from_ansi(shown).plain) < 20


def test_without_a_terminal_nothing_is_shown_of_typing() -> None:
    out = io.StringIO()
    View(Console(file=out)).typing("hello")
    assert out.getvalue() == ""
