"""Responses out of band: beside the conversation's, in a thread that ends with them.

The stages of a session are plain objects; here they are called one after the other. A response's
text is written whole before it is spoken, so that no stage waits for another.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from s2s.core.channel import Channel
from s2s.core.clock import Worker
from s2s.core.control import ResponseRequest
from s2s.core.events import CancelReason, EventSink
from s2s.core.messages import LlmInput, ResponseAsked, ResponseId, TtsMessage, TurnId
from s2s.core.state import SessionState
from s2s.llm.handler import LlmHandler, Steered
from s2s.llm.history import ChatHistory
from s2s.session.models import Models
from s2s.transport.client_playback import BesidePlayback, ClientPlayback
from s2s.transport.sender import Sender
from s2s.tts.handler import TtsHandler, TtsSettings

log = logging.getLogger(__name__)

MAX_MESSAGES = 100_000
"""More than any answer is: nothing waits for room."""


def _unheard(response: ResponseId, text: str, complete: bool) -> None:
    """What is out of band enters no history."""


class Beside:
    """The responses out of band of one session. Safe from any thread."""

    def __init__(
        self,
        models: Models,
        history: ChatHistory,
        state: SessionState,
        events: EventSink,
        playback: ClientPlayback,
        steered: Steered,
    ) -> None:
        self._models = models
        self._history = history
        self._state = replace(state, events=events)
        self._playback = playback
        self._steered = steered
        self._lock = threading.Lock()
        self._running: dict[str, tuple[ResponseId, Sender, Worker]] = {}

    def start(self, request: ResponseRequest, turn_id: str) -> None:
        """Begin `request`: `ResponseStarted` is told before this returns. It has a turn of its
        own."""
        turn = TurnId(turn_id, 0)
        turns = self._state.turns
        turns.observe(turn, grace_until_s=self._state.clock.now())
        turns.commit(turn)
        response = ResponseId(turn.turn_id, 0, self._state.scope.generation, request.key)
        output = BesidePlayback(self._playback)
        sender = Sender(output, self._state, _unheard, failure_heard=False)
        sender.responses.open(response)
        asked = ResponseAsked(request, response)

        def run() -> None:
            try:
                self._make(asked, sender, output.rate_hz)
            finally:
                sender.responses.end(response, "failed", "", "it came to no end")
                with self._lock:
                    self._running.pop(request.key, None)

        with self._lock:
            worker = self._state.clock.start(run, "s2s-beside")
            self._running[request.key] = (response, sender, worker)

    def cancel(self, key: str, reason: CancelReason) -> bool:
        """End the response `key`; False when there is none."""
        with self._lock:
            running = self._running.get(key)
        if running is None:
            return False
        response, sender, _ = running
        if (opened := sender.responses.get(response)) is not None:
            opened.reason = reason
        self._state.silence(response.turn_id)
        self._playback.wake()
        return sender.responses.end(response, "cancelled", "")

    def close(self, join_s: Callable[[], float]) -> None:
        """End all of them; `join_s` seconds at most for each thread."""
        with self._lock:
            running = list(self._running.items())
        for key, _ in running:
            self.cancel(key, "client_cancelled")
        for key, (_, _, worker) in running:
            worker.join(max(0.0, join_s()))
            if worker.is_alive():
                log.warning("the response %s still runs: its model does not stop", key)

    def _make(self, asked: ResponseAsked, sender: Sender, output_hz: int) -> None:
        clock = self._state.clock
        inbox: Channel[LlmInput] = Channel(1, clock=clock, name="beside")
        written: Channel[TtsMessage] = Channel(MAX_MESSAGES, clock=clock, name="beside")
        llm = LlmHandler(
            self._models.chat, self._history, inbox, self._state, steered=self._steered
        )
        settings = TtsSettings(output_hz, real_time_factor=self._models.tts_rtf)
        tts = TtsHandler(self._models.synthesizer, written, self._state, settings)
        try:
            for message in llm.process(asked):
                written.put(message)
        except Exception as error:  # as in the stage loop: the response fails
            log.error("a response out of band failed: %s", error)
            log.debug("a response out of band failed", exc_info=error)
            for message in llm.failed(asked, error):
                written.put(message)
        written.close()
        for message in written:
            try:
                for output in tts.process(message):
                    for _ in sender.process(output):
                        pass
            except Exception as error:  # likewise
                log.error("a response out of band could not be spoken: %s", error)
                log.debug("a response out of band could not be spoken", exc_info=error)
                for output in tts.failed(message, error):
                    for _ in sender.process(output):
                        pass
