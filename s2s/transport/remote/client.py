"""A conversation held with a Realtime server: this transport's microphone and loudspeaker.

Three threads besides the transport's own: one receives, one sends, one plays. A socket that is
lost is opened again, with the token by which the server knows the conversation; meanwhile what is
said is not kept, and what was received plays on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import Clock
from s2s.core.events import EventSink, MicrophoneState, Notice
from s2s.core.messages import AudioIn
from s2s.core.metrics import Metrics
from s2s.core.untyped import is_object
from s2s.transport.base import Transport
from s2s.transport.remote.address import LinkError, LinkLost
from s2s.transport.remote.answers import RemoteAnswers, text_at
from s2s.transport.remote.loudspeaker import RemoteSpeech
from s2s.transport.remote.microphone import RemoteMicrophone
from s2s.transport.remote.websocket import RemoteSocket
from s2s.transport.remote.wishes import (
    Json,
    RemoteWishes,
    append,
    session_update,
    truncate,
    typed,
)

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
"""Between two tries to open a lost socket again."""
WAITING = 300
"""Events on their way to the server: ten seconds of sound. What is more is dropped."""
GREETING = "session.created"
NOT_TOLD = (
    "response_cancel_not_active",
    "conversation_already_has_active_response",
    "input_audio_buffer_commit_empty",
)
"""Errors that only say that what was asked for had happened already."""
JOIN_S = 2.0
"""What the end waits for a socket that is being opened."""
ANSWER_S = 20.0
"""An answer that has not begun by then is not waited for any more."""


class RemoteClient:
    """One conversation.

    Args:
        transport: microphone and loudspeaker.
        connect: opens a socket to the server, each time with the same token.
        wishes: how to talk.
        events: takes what happens.
        clock: the transport's clock.
    """

    def __init__(
        self,
        transport: Transport,
        connect: Callable[[], RemoteSocket],
        wishes: RemoteWishes,
        *,
        events: EventSink,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._transport = transport
        self._connect = connect
        self._wishes = wishes
        self._events = events
        self._clock = clock
        self._metrics = metrics
        self._speech = RemoteSpeech(transport.playback, clock)
        self._answers = RemoteAnswers(self._speech, events, clock, metrics)
        self._microphone = RemoteMicrophone(wishes)
        self._outgoing: Channel[Json] = Channel(WAITING, clock=clock, name="to the server")
        self._ends: Channel[None] = Channel(1, clock=clock, name="the end")
        self._socket: RemoteSocket | None = None
        self._session_id = ""
        self._hearing = False
        self._expected_s: float | None = None
        """Since when an answer is waited for."""
        self._dropped = False
        self._failure: LinkError | None = None

    def connect(self) -> None:
        """Open the socket, and wait until the server has greeted.

        Raises:
            LinkError: it cannot be opened, or what answers is no Realtime server.
        """
        socket = self._connect()
        try:
            self._greet(socket)
        except LinkError:
            socket.close()
            raise

    def run(self) -> None:
        """Converse until the transport ends; `connect` comes before.

        Raises:
            LinkError: the server ended the conversation for good.
        """
        workers = [
            self._clock.start(self._receive_all, "s2s-remote-receive"),
            self._clock.start(self._send_all, "s2s-remote-send"),
        ]
        if not self._microphone.open:
            self._events(MicrophoneState("waiting" if self._wishes.push_to_talk else "muted"))
        try:
            self._transport.run(self._hear, self._tick)
        finally:
            self.close()
            for worker in workers:
                worker.join(JOIN_S)
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End everything. Idempotent."""
        self._ends.close()
        self._outgoing.close(discard=True)
        self._speech.close()
        if self._socket is not None:
            self._socket.close()

    # --- what keys do --------------------------------------------------------------------------

    @property
    def muted(self) -> bool:
        """Nothing is heard."""
        return self._microphone.muted

    def mute(self, on: bool) -> None:
        """Hear nothing from now on, or hear again. From any thread."""
        self._microphone.muted = on
        self._events(MicrophoneState("muted" if on else "open"))

    def talk(self, down: bool) -> None:
        """The talk key went down, which silences the assistant, or up, which ends the turn. From
        any thread; nothing happens without `push_to_talk`."""
        if not self._wishes.push_to_talk or down == self._microphone.talking:
            return
        if down:
            self.interrupt()
            self._send({"type": "input_audio_buffer.clear"})
        self._microphone.talking = down
        if not down:
            self._send({"type": "input_audio_buffer.commit"})
            self._send({"type": "response.create"})
            self._expected_s = self._clock.now()
        self._events(MicrophoneState("talking" if down else "waiting"))

    def take_up_dropped(self) -> None:
        """Nothing: the protocol has no word for it."""
        self._events(
            Notice("a server over the network cannot take up what it dropped: say it again")
        )

    def interrupt(self) -> None:
        """Silence the assistant at once and for good. From any thread."""
        if self._answers.running:
            self._send({"type": "response.cancel"})
        self._cut("by key")

    def type_line(self, text: str) -> None:
        """The person typed `text` instead of saying it. From any thread."""
        self.interrupt()
        self._send(typed(self._answers.typed(text), text))
        self._send({"type": "response.create"})
        self._expected_s = self._clock.now()

    # --- the transport's thread ----------------------------------------------------------------

    def _hear(self, window: AudioIn) -> None:
        own_voice = self._transport.half_duplex and self._speech.sounding
        block = self._microphone.sent(window, own_voice=own_voice)
        if block is not None and len(block):
            self._send(append(block))

    def _tick(self) -> bool:
        for report in self._transport.playback.reports():
            turn = report.response.turn
            if report.what == "started":
                self._metrics.mark(turn, "first_played", report.at_s)
            elif report.what == "finished":
                self._metrics.finish(turn)
                self._answers.played(report.response.response_key or "")
        expected = self._expected_s
        if expected is not None and self._clock.now() - expected > ANSWER_S:
            self._expected_s = expected = None
        busy = self._hearing or expected is not None or bool(self._answers.running)
        return not busy and not self._speech.sounding

    # --- sending -------------------------------------------------------------------------------

    def _send(self, event: Json) -> None:
        """From any thread; never waits."""
        if self._socket is None or self._outgoing.offer(event) or self._outgoing.closed:
            return
        if not self._dropped:
            self._dropped = True
            self._events(Notice("the line to the server is too slow: some of what you say is lost"))

    def _send_all(self) -> None:
        for event in self._outgoing:
            socket = self._socket
            if socket is not None:
                with suppress(LinkLost):  # who receives sees it too, and opens it again
                    socket.send(json.dumps(event))

    # --- receiving -----------------------------------------------------------------------------

    def _receive_all(self) -> None:
        try:
            while (socket := self._socket) is not None:
                self._receive(socket)
                self._reopen()
        except LinkError as error:
            self._failure = error
        except Closed:
            pass
        except Exception as error:  # the edge of this thread: told, and the end
            log.exception("receiving ended")
            self._failure = LinkError(f"the conversation broke off ({error!r})")
        finally:
            self._transport.stop()

    def _receive(self, socket: RemoteSocket) -> None:
        """Deal with what comes until the socket is lost."""
        while True:
            try:
                text = socket.receive()
            except LinkLost:
                return
            event = _parsed(text)
            if event is not None:
                self._received(text_at(event, "type"), event)

    def _reopen(self) -> None:
        """Open a lost socket again, for as long as it takes.

        Raises:
            LinkError: it never will be.
            Closed: the conversation is over.
        """
        if self._ends.closed:
            raise Closed("the end")
        self._socket = None
        self._hearing = False
        self._expected_s = None
        self._answers.lost()
        self._events(Notice("the server has gone: trying to reach it again. Ctrl-C ends."))
        pause_s = FIRST_PAUSE_S
        while True:
            with suppress(Timeout):
                self._ends.get(deadline_s=self._clock.now() + pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            before = self._session_id
            try:
                self.connect()
            except LinkLost as error:
                log.debug("still not: %s", error)
                continue
            if self._ends.closed:
                self.close()
                raise Closed("the end")
            back = "remembers" if self._session_id == before else "has forgotten"
            self._events(Notice(f"the server is back; it {back} what was said before"))
            return

    def _greet(self, socket: RemoteSocket) -> None:
        """Wait for the server's first event, and say how to talk.

        Raises:
            LinkError: it is no Realtime server, or has gone.
        """
        event = _parsed(socket.receive())
        kind = "" if event is None else text_at(event, "type")
        if event is None or kind != GREETING:
            what = text_at(event or {}, "error", "message") or kind or "something else"
            raise LinkError(f"the server does not greet as a Realtime server does: {what}")
        found = text_at(event, "session", "id")
        if found != self._session_id or not found:
            socket.send(json.dumps(session_update(self._wishes)))
        self._session_id = found
        self._socket = socket

    def _received(self, kind: str, event: Json) -> None:
        answers = self._answers
        known, _, rest = kind.partition("conversation.item.input_audio_transcription.")
        if rest and not known:
            answers.transcription(event, rest)
            if rest != "delta" and not text_at(event, "transcript").strip():
                self._expected_s = None
            return
        item = text_at(event, "item_id")
        match kind:
            case "input_audio_buffer.speech_started":
                self._hearing = True
                answers.speech_started(item)
                self._cut("you spoke")
            case "input_audio_buffer.speech_stopped":
                self._hearing = False
                self._expected_s = self._clock.now()
                answers.speech_stopped(item, self._microphone.voice_at_s)
            case "input_audio_buffer.committed":
                answers.committed(item)
            case "error":
                self._told_error(event)
            case _ if kind.startswith("response."):
                self._response(kind, event)
            case _:
                pass  # told to those who show a history

    def _response(self, kind: str, event: Json) -> None:
        answers = self._answers
        match kind:
            case "response.created":
                self._expected_s = None
                answers.created(event)
            case "response.output_item.added":
                answers.item_added(event)
            case "response.output_item.done":
                answers.item_done(event)
            case "response.output_audio_transcript.delta" | "response.output_text.delta":
                answers.words(event)
            case "response.output_audio_transcript.done" | "response.output_text.done":
                answers.words_done(event)
            case "response.output_audio.delta":
                answers.sound(event)
            case "response.output_audio.done":
                answers.sound_done(event)
            case "response.done":
                answers.done(event)
            case _:
                pass  # parts: their beginnings and ends are known from what is in them

    def _cut(self, by: str) -> None:
        for item, heard_ms in self._answers.cut(by):
            self._send(truncate(item, heard_ms))

    def _told_error(self, event: Json) -> None:
        if text_at(event, "error", "code") not in NOT_TOLD:
            self._events(Notice(f"the server says: {text_at(event, 'error', 'message')}"))


def _parsed(text: str) -> Json | None:
    """An event, or None for what is none."""
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return found if is_object(found) else None
