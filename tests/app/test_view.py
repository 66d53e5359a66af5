"""What the terminal shows of a conversation."""

from __future__ import annotations

import io
from typing import get_args

import pytest
from rich.console import Console

from s2s.app.view import MICROPHONE, View
from s2s.core.events import Event, Listening, MicrophoneState, StopHeard
from s2s.core.messages import TurnId


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
