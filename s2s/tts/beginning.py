"""When an answer may begin: by a commit of its turn, or provisionally. Knows no sound."""

from __future__ import annotations

from functools import partial

from s2s.core.messages import ResponseId
from s2s.core.speculation import Verdict
from s2s.core.state import SessionState


def begin_answer(state: SessionState, response: ResponseId) -> bool:
    """Let `response` be heard from now on, by a commit or provisionally; False while it may not."""
    match state.turns.verdict(response.turn):
        case Verdict.LATEST if state.turns.commit(response.turn):
            state.mark(response, "committed")
        case Verdict.PROVISIONAL if state.turns.begin_provisionally(response.turn):
            state.mark(response, "provisional")
        case _:
            return False
    return True


def begin_after_grace(state: SessionState, response: ResponseId) -> bool:
    """Wait until `response` may be heard; False when it is stale."""
    turns, stale = state.turns, partial(state.is_stale, response)
    while turns.is_latest_after_reopen_grace(response.turn, stale=stale, provisionally=True):
        if begin_answer(state, response):
            return not stale()
    return False
