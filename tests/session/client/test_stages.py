"""The ends of two stages: words are told as they pass, sound goes to the sender at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from s2s.core.cancel import CancelScope
from s2s.core.clock import ManualClock
from s2s.core.events import (
    Event,
    ResponseDone,
    TurnCommitted,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.handler import Handler
from s2s.core.messages import (
    AudioOut,
    AudioResponseDone,
    LlmInput,
    PartialTranscript,
    ResponseId,
    SessionEnd,
    SttInput,
    Transcript,
    TranscriptFailed,
    TurnId,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.session.client.stages import SenderOutlet, TellingStt
from s2s.session.client.telling import TurnTelling
from s2s.transport.client_playback import ClientPlayback, ClientSound
from s2s.transport.sender import Sender

TURN = TurnId("t1", 0)


class Ears(Handler[SttInput, LlmInput]):
    """Gives what it is told to, whatever it is given."""

    name = "stt"

    def __init__(self, *outputs: LlmInput) -> None:
        self.outputs = outputs
        self.errors: list[str] = []

    def process(self, message: SttInput) -> Iterable[LlmInput]:
        return self.outputs

    def failed(self, message: SttInput | None, error: Exception) -> Iterable[LlmInput]:
        self.errors.append(str(error))
        return self.outputs


def committed() -> tuple[list[Event], TurnTelling]:
    """A turn that waits for its words alone, and what is told of it."""
    events: list[Event] = []
    telling = TurnTelling(events.append, lambda _: None, lambda: True)
    telling.sent(TURN, 1.0, answered=True)
    telling.committed(TURN)
    assert events == [TurnCommitted("item_t1", None)]
    events.clear()
    return events, telling


def test_words_are_told_and_go_on_unchanged() -> None:
    events, telling = committed()
    words = Transcript("hello", "en", TURN, 0, 0.0)
    stage = TellingStt(Ears(words), telling)
    assert list(stage.process(SessionEnd("s"))) == [words]
    assert events == [TurnTranscript("item_t1", "hello", "hello", True, 1.0)]


@pytest.mark.parametrize("fails", [False, True])
def test_words_that_do_not_come_are_told_too(fails: bool) -> None:
    events, telling = committed()
    ears = Ears(TranscriptFailed("deaf", TURN, 0, 0.0))
    stage, message = TellingStt(ears, telling), SessionEnd("s")
    error = RuntimeError("no ears")
    outputs = list(stage.failed(message, error) if fails else stage.process(message))
    assert outputs == list(ears.outputs)
    assert ears.errors == (["no ears"] if fails else [])
    assert events == [TurnTranscriptFailed("item_t1", "deaf")]


def test_what_is_no_transcript_passes_untold() -> None:
    events, telling = committed()
    passing: tuple[LlmInput, ...] = (PartialTranscript("he", "", TURN, 100), SessionEnd("s"))
    assert list(TellingStt(Ears(*passing), telling).process(SessionEnd("s"))) == list(passing)
    assert events == []


def test_words_are_told_before_whoever_answers_them_has_them() -> None:
    events, telling = committed()
    words = Transcript("hello", "en", TURN, 0, 0.0)
    for output in TellingStt(Ears(words), telling).process(SessionEnd("s")):
        assert output == words
        assert len(events) == 1


def test_sound_has_left_when_the_outlet_returns() -> None:
    clock = ManualClock()
    events: list[Event] = []
    sounds: list[ClientSound] = []
    turns = SpeculativeTurns(clock)
    state = SessionState(CancelScope(clock), turns, clock, Metrics(), events.append)
    playback = ClientPlayback(clock, 24_000, sounds.append, lambda: None)
    heard: list[str] = []
    sender = Sender(playback, state, lambda _, text, __: heard.append(text), failure_heard=False)
    turns.observe(TURN, grace_until_s=0.0)
    turns.commit(TURN)
    response = ResponseId("t1", 0, 0, "resp_1")
    outlet = SenderOutlet(sender)
    outlet.put(AudioOut(np.zeros(240, np.float32), response, "hi"))
    assert [(each.response, each.text) for each in sounds] == [(response, "hi")]
    outlet.put(AudioResponseDone(response))
    outlet.close()
    for report in playback.reports():
        sender.on_played(report)
    (done,) = [each for each in events if isinstance(each, ResponseDone)]
    assert (done.status, done.played) == ("completed", "hi")
    assert heard == ["hi"]
