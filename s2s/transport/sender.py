"""The last stage: hands sound to the playback buffer and records which responses are open.

Every response that is opened here is ended here exactly once, whatever happened to it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np

from s2s.core.audio import Block
from s2s.core.events import AnswerText, NothingSpoken, ResponseStatus, ToolCalled, ToolUsed
from s2s.core.handler import Handler
from s2s.core.messages import (
    AssistantText,
    AudioOut,
    AudioResponseDone,
    ResponseId,
    SenderInput,
    SessionEnd,
    ToolCall,
    ToolResult,
    TurnId,
)
from s2s.core.state import SessionState
from s2s.transport.output import SoundOutput
from s2s.transport.playback import Played
from s2s.transport.responses import PlayedSink, Responses

log = logging.getLogger(__name__)


class Sender(Handler[SenderInput, SenderInput]):
    """Plays what the TTS made. Its thread waits when playback is full: that is the backpressure."""

    name = "sender"

    def __init__(
        self,
        playback: SoundOutput,
        state: SessionState,
        played: PlayedSink,
        *,
        failure_heard: bool = True,
    ) -> None:
        """`failure_heard`: who heard nothing of an answer that failed hears a tone."""
        self._playback = playback
        self._state = state
        self._failure_heard = failure_heard
        self._scope = state.scope
        self._turns = state.turns
        self._metrics = state.metrics
        self.responses = Responses(state, played)

    def process(self, message: SenderInput) -> Iterable[SenderInput]:
        match message:
            case AssistantText():
                if not self._stale(message.response):
                    self._say(message)
            case ToolCall(response=response):
                if not self._stale(response):
                    called = ToolCalled(response, message.name, message.arguments, message.call_id)
                    self.responses.tell(response, called)
            case ToolResult(response=response):
                if not self._stale(response):
                    self.responses.tell(response, ToolUsed(response, message.item))
            case AudioOut():
                self._play(message)
            case AudioResponseDone():
                self._done(message)
            case SessionEnd():
                self.interrupt()
        return ()

    def on_played(self, report: Played) -> None:
        """Deal with what the loudspeaker did. Called on the transport's thread."""
        response = report.response
        if report.what == "started":
            self._metrics.mark(response.turn, "first_played", report.at_s)
            return
        known = self.responses.get(response)
        certain = known is None or self.responses.is_certain(response)
        if known is not None and not certain and report.what == "finished":
            known.finished = report  # it ends once it is certain that it was an answer
            return
        if certain:
            self._metrics.finish(response.turn)
        if known is None:
            return
        ended: ResponseStatus = "cancelled" if report.what == "cut" else "completed"
        status = ended if known.error is None else "failed"
        self.responses.end(response, status, report.text, known.error)

    def settle(self) -> None:
        """Tell what is certain by now of answers that began before it was. Called now and then."""
        for report in self.responses.settle():
            self.on_played(report)

    def take_back(self) -> None:
        """Silence the answers to what the person goes on with, as if they had never begun.

        Their turns must have new revisions, so that nothing of the old ones is written after.
        """
        self._playback.drop(lambda response: self._turns.is_superseded(response.turn))
        for report in self._playback.reports():
            self.on_played(report)
        for response in self.responses.superseded():
            known = self.responses.get(response)
            heard = known.finished.text if known is not None and known.finished is not None else ""
            self.responses.end(response, "cancelled", heard)

    def interrupt(self) -> None:
        """Silence at once: drop what waits, and end every open response as cancelled.

        The cancel generation must have been raised before, so that nothing stale is written after.
        """
        self._playback.clear()
        for report in self._playback.reports():
            self.on_played(report)
        for response in self.responses.all():
            if self._stale(response):
                self.responses.end(response, "cancelled", "")

    def give_up(self, turn: TurnId | None, error: str) -> None:
        """Fail what is open, or the answer to `turn` that never began, so that it is heard.

        Everything so far is stale: the cancel generation was raised before.
        """
        opened = self.responses.all()
        for response in opened:
            self.responses.open(response).error = error
        self._playback.clear()
        for report in self._playback.reports():
            self.on_played(report)
        for response in opened:
            self.responses.end(response, "failed", "", error)
        turn = opened[-1].turn if opened else turn
        if turn is None:
            return
        failure = ResponseId(turn.turn_id, turn.turn_revision, self._scope.generation, "given-up")
        if not opened:
            self.responses.open(failure).error = error
        self._sound_failure(failure)

    def _stale(self, response: ResponseId) -> bool:
        """It was interrupted, silenced or taken back."""
        interrupted = self._scope.is_stale(response.cancel_generation)
        silenced = self._state.is_silenced(response.turn_id)
        return interrupted or silenced or self._turns.is_superseded(response.turn)

    def _say(self, message: AssistantText) -> None:
        response = message.response
        if message.instead_of is not None:
            self.responses.tell(response, NothingSpoken(response, message.instead_of))
        self.responses.tell(response, AnswerText(response, message.text, message.spoken))

    def _play(self, message: AudioOut) -> None:
        response = message.response
        if self._stale(response):
            return
        self.responses.open(response).sound = True
        self._playback.write(
            message.block, response, message.text, stale=lambda: self._stale(response)
        )

    def _done(self, message: AudioResponseDone) -> None:
        response = message.response
        if message.cleanup_only or self._stale(response):
            if message.cleanup_only and not self._stale(response):
                self._take_back(response)
            self.responses.end(response, "cancelled", "")
            return
        if (opened := self.responses.get(response)) is not None:
            opened.usage = message.usage
        if message.error is not None:
            self._fail(response, message.error)
        elif not self._playback.finish(response):
            # an answer without sound, or without anything
            self.responses.open(response).usage = message.usage
            self.responses.end(response, "completed", "")
            self._metrics.finish(response.turn)

    def _take_back(self, response: ResponseId) -> None:
        """Silence a response that was withdrawn while it was being spoken."""
        opened = self.responses.get(response)
        if opened is not None and opened.sound:
            self._playback.clear()
            for report in self._playback.reports():
                self.on_played(report)

    def _fail(self, response: ResponseId, error: str) -> None:
        """Let it end as failed. Who heard nothing of it hears a tone, so that no turn ends mute."""
        opened = self.responses.open(response)
        opened.error = error
        if opened.sound:
            self._playback.finish(response)  # it ends, as failed, once it has been played
        else:
            self._sound_failure(response)

    def _sound_failure(self, response: ResponseId) -> None:
        if not self._failure_heard:
            self.responses.end(response, "failed", "", self.responses.open(response).error)
            return
        for block in _failure_tone(self._playback.rate_hz):
            self._playback.write(block, response, "", stale=lambda: self._stale(response))
        self._playback.finish(response)


def _failure_tone(rate_hz: int) -> list[Block]:
    """Two short falling tones, float32, in blocks of a tenth of a second."""
    t = np.arange(int(0.1 * rate_hz)) / rate_hz
    fade = np.minimum(1.0, np.minimum(t, t[::-1]) / 0.01)
    return [(0.15 * fade * np.sin(2 * np.pi * hz * t)).astype(np.float32) for hz in (440.0, 330.0)]
