"""The Realtime protocol between one client and one session, without any transport or thread.

What the client says comes in as text, what the session says as events and sound from any thread;
what the client is to be told waits in the outbox. Apart from `session_event` and `session_sound`
everything is called from one thread.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from s2s.core.audio import Block
from s2s.core.control import NoSound, SessionControl, UnknownItem
from s2s.core.events import (
    AnswerText,
    Event,
    Notice,
    ResponseDone,
    ResponseStarted,
    ToolCalled,
    ToolUsed,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.items import answer_item_id
from s2s.core.messages import ResponseId
from s2s.transport.realtime.commands import ClientMicrophone, Commands, IdNumbers, response_form
from s2s.transport.realtime.faults import ClientFault, needs_webrtc
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.meaning import hearing_of
from s2s.transport.realtime.response_writer import ResponseForm, ResponseWriter
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.server_playback import PlaybackChange, ServerPlayback, SoundCut
from s2s.transport.realtime.session_object import SessionObject
from s2s.transport.realtime.turn_writer import TurnEvent, TurnWriter
from s2s.transport.realtime.wire.parse import event_id_of, parse_event, parse_object
from s2s.transport.realtime.wire.server_events import (
    ErrorDetail,
    ErrorEvent,
    ItemTruncated,
    OutputCleared,
    OutputStarted,
    OutputStopped,
    SessionCreated,
)
from s2s.transport.realtime.wire.settings import ResponseSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Sound:
    response: ResponseId
    block: Block
    text: str


class RealtimeProtocol:
    """One client and its session.

    Args:
        session: the session as it is told.
        outbox: what waits to be sent.
        rate_hz: of the session's sound.
        limits: how much the client may put into it.
        on_news: called, from any thread, when `catch_up` has something to do.
        on_error: told the code of each error.
    """

    def __init__(
        self,
        session: SessionObject,
        outbox: SendQueue,
        rate_hz: int,
        *,
        limits: Limits | None = None,
        on_news: Callable[[], None] = lambda: None,
        on_error: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self.session = session
        self._outbox = outbox
        self._rate_hz = rate_hz
        self._limits = limits or Limits()
        self._on_news = on_news
        self._on_error = on_error
        self.playback: ServerPlayback | None = None
        """Plays the answers, where the client does not; set before `begin`."""
        self._cuts: dict[str, SoundCut] = {}
        """Responses that were silenced and have not ended."""
        self._news: deque[Event | _Sound] = deque()
        self._turns = TurnWriter(outbox)
        self._responses: dict[str, ResponseWriter] = {}
        self._event_id: str | None = None
        """Of the client's event that is being dealt with."""
        self._control: SessionControl | None = None
        self._commands: Commands | None = None

    # --- from the session, on any thread -------------------------------------------------------

    def session_event(self, event: Event) -> None:
        self._news.append(event)
        self._on_news()

    def session_sound(self, response: ResponseId, block: Block, text: str) -> None:
        """Sound of a response, float32 [samples], and the text said once it has been played."""
        self._news.append(_Sound(response, block, text))
        self._on_news()

    # --- on the wire's thread ------------------------------------------------------------------

    def begin(
        self, control: SessionControl, microphone: ClientMicrophone, ids: IdNumbers | None = None
    ) -> None:
        """The session behind runs: the first event.

        Args:
            ids: of the connection that this one goes on with.
        """
        self._control = control
        self._commands = Commands(
            self.session, control, microphone, self._outbox, self, self._limits
        )
        self._commands.tells_sound = self.playback is None
        if ids is not None:
            self._commands.ids = ids
        self._outbox.put(SessionCreated(session=self.session.echo()))

    @property
    def commands(self) -> Commands:
        """What the client asks for; there is nothing before `begin`."""
        assert self._commands is not None
        return self._commands

    def client_text(self, text: str) -> None:
        """Do what the client asks in one message. Whatever is wrong with it costs one `error`."""
        self.catch_up()
        self._event_id = None
        try:
            value = parse_object(text)
            self._event_id = event_id_of(value)
            self.commands.do(parse_event(value))
        except ClientFault as fault:
            self.fault(fault)
        except Exception:
            log.exception("an event of a client could not be dealt with")
            message = "The server had an error while processing the event. The session goes on."
            self._error("server_error", ClientFault("internal_error", message))
        self._event_id = None
        self.catch_up()

    def catch_up(self, *, until: str | None = None) -> None:
        """Tell what the session has said until now, or up to the first word of a response."""
        sounding: ResponseWriter | None = None
        while self._news and (until is None or _response_of(self._news[0]) != until):
            news = self._news.popleft()
            if isinstance(news, _Sound):
                writer = self._responses.get(news.response.response_key or "")
                if sounding is not None and sounding is not writer:
                    sounding.flush()
                sounding = self._sound(writer, news)
                continue
            if sounding is not None and not isinstance(news, ResponseDone):
                sounding.flush()
                sounding = None
            self._tell(news)
        if sounding is not None:
            sounding.flush()

    def opened(self, response_id: str, form: ResponseForm) -> None:
        """A response that the client asked for begins: told behind the end of the one before."""
        self.catch_up(until=response_id)
        self._open(response_id, form)

    def fault(self, fault: ClientFault) -> None:
        """Tell that the event that is being dealt with was wrong."""
        self._error("invalid_request_error", fault)

    def clear_output(self) -> None:
        """Silence, as the client wants it."""
        if self.playback is None:
            raise needs_webrtc()
        self._silence()

    def playback_changed(self, change: PlaybackChange) -> None:
        """The sound of a response begins to leave, or all of it has left."""
        kind = OutputStarted if change.what == "started" else OutputStopped
        self._outbox.put(kind(response_id=change.response_id))

    def expire(self) -> None:
        """The session has lasted as long as any may: the last event."""
        self._event_id = None
        message = "Your session hit its maximum duration."
        self.fault(ClientFault("session_expired", message))

    def cannot_go_on(self, why: str) -> None:
        """What the client may have left elsewhere cannot be gone on with."""
        self._error("server_error", ClientFault("resume_unavailable", why))

    def _error(self, kind: str, fault: ClientFault) -> None:
        detail = ErrorDetail(
            type="server_error" if kind == "server_error" else "invalid_request_error",
            code=fault.code,
            message=fault.message,
            param=fault.param,
            event_id=self._event_id,
        )
        self._on_error(fault.code)
        self._outbox.put(ErrorEvent(error=detail))

    # --- what the session says -----------------------------------------------------------------

    def _tell(self, event: Event) -> None:
        match event:
            case (
                TurnBegan()
                | TurnEnded()
                | TurnCommitted()
                | TurnTranscript()
                | TurnTranscriptFailed()
            ):
                self._tell_turn(event)
            case ResponseStarted(response=response):
                key = response.response_key
                if key is not None and key not in self._responses:
                    self._open(key, response_form(self.session, ResponseSettings()))
            case AnswerText(response=response, text=text):
                if (writer := self._writer(response)) is not None:
                    writer.text(text)
            case ToolCalled(response=response) | ToolUsed(response=response):
                if (writer := self._writer(response)) is not None:
                    writer.call(event)
            case ResponseDone(response=response):
                writer = self._responses.pop(response.response_key or "", None)
                if writer is not None:
                    self._end(writer, event)
            case Notice(text=text):
                log.warning("%s: %s", self.session.session_id, text)
            case _:
                pass  # what a wire does not tell

    def _tell_turn(self, event: TurnEvent) -> None:
        self._turns.tell(event)
        if isinstance(event, TurnCommitted):
            self.commands.committed()
        elif isinstance(event, TurnBegan) and hearing_of(self.session).interrupts:
            self._silence()

    def _open(self, response_id: str, form: ResponseForm) -> None:
        assert self._control is not None
        writer = ResponseWriter(
            response_id, form, self._outbox, self._control.previous, self.playback
        )
        self._responses[response_id] = writer
        writer.begin()

    def _end(self, writer: ResponseWriter, done: ResponseDone) -> None:
        if self.playback is not None and done.status == "cancelled":
            self._silence(but=writer)
        writer.end(done)
        if self.playback is None:
            return
        self.playback.ended(writer.response_id)
        cut = self._cuts.pop(writer.response_id, None)
        if cut is not None:
            self._truncate(cut)

    # --- what is played here -------------------------------------------------------------------

    def _silence(self, but: ResponseWriter | None = None) -> None:
        """Play no more. What was heard of a response is told behind its end, which `but` has not
        reached though it is not among those that run."""
        if self.playback is None:
            return
        for cut in self.playback.clear():
            self._outbox.put(OutputCleared(response_id=cut.response_id))
            ending = but is not None and but.response_id == cut.response_id
            if ending or cut.response_id in self._responses:
                self._cuts[cut.response_id] = cut
            else:
                self._truncate(cut)

    def _truncate(self, cut: SoundCut) -> None:
        """The conversation keeps what was heard, and the client is told."""
        assert self._control is not None
        assert self.playback is not None
        item_id = answer_item_id(cut.response_id)
        heard_ms = 1000 * cut.left // self.playback.rate_hz
        try:
            left = self._control.truncate(item_id, heard_ms)
        except (UnknownItem, NoSound):
            return  # out of band, or deleted meanwhile
        self._outbox.put(
            ItemTruncated(item_id=item_id, content_index=0, audio_end_ms=left.audio_end_ms)
        )

    def _writer(self, response: ResponseId) -> ResponseWriter | None:
        return self._responses.get(response.response_key or "")

    def _sound(self, writer: ResponseWriter | None, sound: _Sound) -> ResponseWriter | None:
        if writer is None:  # of a response that has ended
            self._outbox.never_sent(len(sound.block))
            return None
        self.session.sound_was_sent()
        writer.sound(sound.block, self._rate_hz, sound.text)
        return writer


def _response_of(news: Event | _Sound) -> str | None:
    """The response that it is about."""
    match news:
        case _Sound(response=response):
            return response.response_key
        case (
            ResponseStarted(response=response)
            | AnswerText(response=response)
            | ToolCalled(response=response)
            | ToolUsed(response=response)
            | ResponseDone(response=response)
        ):
            return response.response_key
        case _:
            return None
