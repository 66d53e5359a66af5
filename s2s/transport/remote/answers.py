"""A Realtime server's events, told as a session's own events are: for the terminal and the log.

Knows the items of one conversation: what was said, what is answered, what is played of it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace

from s2s.core.clock import Clock
from s2s.core.events import (
    AnswerText,
    EventSink,
    Heard,
    Interruption,
    NothingHeard,
    Notice,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    SpeechStarted,
    SpeechStopped,
    ToolCalled,
)
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Metrics
from s2s.core.untyped import is_object
from s2s.transport.remote.loudspeaker import RemoteSpeech
from s2s.transport.remote.wishes import Json, sound_of

SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "\n")
KEPT = 64
"""Items of the conversation that are known; of older ones nothing comes any more."""


def text_at(event: Json, *path: str) -> str:
    """The text at a path of names in an event; "" where there is none."""
    value: object = event
    for name in path:
        value = value.get(name) if is_object(value) else None
    return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _Said:
    """What the person said, as far as it is known."""

    turn: TurnId
    text: str = ""


@dataclass(slots=True)
class _Spoken:
    """An item of an answer."""

    response: ResponseId
    text: str = ""
    of: str = ""
    """Id of the response."""
    shown: int = 0
    """Characters of `text` that were told."""
    complete: bool = False
    """Nothing more comes of it."""
    sounding: bool = False
    """It has sound that was not played to its end."""


@dataclass(slots=True)
class _Running:
    """A response that has not ended."""

    response: ResponseId
    items: list[str] = field(default_factory=list)


class RemoteAnswers:
    """What a conversation's events say. Safe from any thread.

    A response is told as done when what was sent of it has been played, or was cut.
    """

    def __init__(
        self, speech: RemoteSpeech, events: EventSink, clock: Clock, metrics: Metrics
    ) -> None:
        self.running = ""
        """Id of the response that runs; "" when none does."""
        self.turn = TurnId("", 0)
        """The newest turn."""
        self._speech = speech
        self._events = events
        self._clock = clock
        self._metrics = metrics
        self._said: dict[str, _Said] = {}
        self._spoken: dict[str, _Spoken] = {}
        self._responses: dict[str, _Running] = {}
        self._ending: dict[str, ResponseDone] = {}
        """Of responses that are made, and not yet played."""
        self._lock = clock.condition()

    # --- the person ----------------------------------------------------------------------------

    def speech_started(self, item: str) -> None:
        self.turn = self._saying(item).turn
        self._events(SpeechStarted(self.turn, self._clock.now()))

    def speech_stopped(self, item: str, voice_at_s: float) -> None:
        turn = self._saying(item).turn
        self._metrics.mark(turn, "speech_stopped", min(voice_at_s, self._clock.now()))
        self._events(SpeechStopped(turn, self._clock.now()))

    def committed(self, item: str) -> None:
        self.turn = self._saying(item).turn
        self._metrics.mark(self.turn, "endpoint", self._clock.now())

    def transcription(self, event: Json, kind: str) -> None:
        """`kind` is delta, completed or failed."""
        said = self._saying(text_at(event, "item_id"))
        if kind == "delta":
            said.text += text_at(event, "delta")
            self._events(Heard(said.turn, said.text.strip(), final=False))
            return
        text = text_at(event, "transcript").strip()
        if kind == "completed" and text:
            self._metrics.mark(said.turn, "transcript", self._clock.now())
            self._events(Heard(said.turn, text, final=True))
        elif kind in ("completed", "failed"):
            self._events(NothingHeard(said.turn))

    def typed(self, text: str) -> str:
        """The person typed `text`; returns the name of a new item for it."""
        item = f"typed_{secrets.token_hex(8)}"
        self.turn = turn = self._saying(item).turn
        self._metrics.mark(turn, "speech_stopped", self._clock.now())
        self._events(Heard(turn, text, final=True))
        return item

    # --- the answer ----------------------------------------------------------------------------

    def created(self, event: Json) -> None:
        key = text_at(event, "response", "id")
        response = ResponseId(self.turn.turn_id, 0, 0, key)
        self._responses[key] = _Running(response)
        self.running = key
        self._events(ResponseStarted(response))

    def item_added(self, event: Json) -> None:
        running = self._responses.get(text_at(event, "response_id"))
        item = text_at(event, "item", "id")
        if running is not None and text_at(event, "item", "type") == "message":
            running.items.append(item)
            response = running.response
            of_item = ResponseId(response.turn_id, 0, len(running.items), item)
            self._spoken[item] = _Spoken(of_item, of=running.response.response_key or "")
            _forget(self._spoken)

    def item_done(self, event: Json) -> None:
        running = self._responses.get(text_at(event, "response_id"))
        if running is not None and text_at(event, "item", "type") == "function_call":
            name, arguments = text_at(event, "item", "name"), text_at(event, "item", "arguments")
            self._events(ToolCalled(running.response, name, arguments))

    def words(self, event: Json) -> None:
        """More of what is said, or shown."""
        spoken = self._spoken.get(text_at(event, "item_id"))
        if spoken is not None:
            self._metrics.mark(self._turn_of(spoken), "first_token", self._clock.now())
            spoken.text += text_at(event, "delta")
            if spoken.text.rstrip().endswith(SENTENCE_ENDS):
                self._show(spoken)

    def sound(self, event: Json) -> None:
        spoken = self._spoken.get(text_at(event, "item_id"))
        if spoken is None or spoken.complete:
            return
        try:
            block = sound_of(text_at(event, "delta"))
        except ValueError as error:
            self._events(Notice(f"the server sent sound that cannot be read ({error})"))
            return
        self._metrics.mark(self._turn_of(spoken), "first_audio", self._clock.now())
        with self._lock:
            spoken.sounding = True
        self._speech.add(spoken.response, block, spoken.text)

    def words_done(self, event: Json) -> None:
        spoken = self._spoken.get(text_at(event, "item_id"))
        if spoken is not None:
            self._show(spoken)

    def sound_done(self, event: Json) -> None:
        spoken = self._spoken.get(text_at(event, "item_id"))
        if spoken is not None and not spoken.complete:
            spoken.complete = True
            self._speech.end(spoken.response)

    def done(self, event: Json) -> None:
        key = text_at(event, "response", "id")
        self._end(key)
        running = self._responses.pop(key, None)
        if running is None:
            return
        status = text_at(event, "response", "status")
        error = text_at(event, "response", "status_details", "error", "message") or text_at(
            event, "response", "status_details", "error", "code"
        )
        result: ResponseStatus = "cancelled" if status == "cancelled" else "completed"
        if status == "failed":
            result, error = "failed", error or "the server does not say why"
        text = " ".join(self._spoken[item].text for item in running.items if item in self._spoken)
        with self._lock:
            self._ending[key] = ResponseDone(running.response, result, text, error or None)
        self._tell_ended(key)

    def played(self, item: str) -> None:
        """An item was played to its end."""
        spoken = self._spoken.get(item)
        if spoken is not None:
            with self._lock:
                spoken.sounding = False
            self._tell_ended(spoken.of)

    def lost(self) -> None:
        """The socket is gone: of what runs, nothing more comes."""
        for key in list(self._responses):
            self._end(key)
            running = self._responses.pop(key)
            self._events(ResponseDone(running.response, "cancelled", ""))

    def cut(self, by: str) -> list[tuple[str, int]]:
        """Silence what plays and what waits. Returns of each item that was not heard to its end
        its id, and the ms of it that were heard. From any thread."""
        heard = self._speech.cut()
        for item in heard:
            spoken = self._spoken.get(item.response_key or "")
            if spoken is not None:
                spoken.complete = True
                spoken.shown = len(spoken.text)
                with self._lock:
                    spoken.sounding = False
                    if spoken.of in self._ending:
                        ended = replace(self._ending[spoken.of], status="cancelled")
                        self._ending[spoken.of] = ended
        if heard:
            self._events(Interruption("cancel", 0, by))
        for key in list(self._ending):
            self._tell_ended(key)
        return [(item.response_key or "", ms) for item, ms in heard.items()]

    # --- inside --------------------------------------------------------------------------------

    def _saying(self, item: str) -> _Said:
        said = self._said.get(item)
        if said is None:
            said = self._said[item] = _Said(TurnId(item, 0))
            _forget(self._said)
        return said

    def _tell_ended(self, key: str) -> None:
        """Tell that a response is done, if it is and nothing of it is still played."""
        with self._lock:
            if any(each.sounding for each in list(self._spoken.values()) if each.of == key):
                return
            ended = self._ending.pop(key, None)
        if ended is not None:
            self._events(ended)

    def _turn_of(self, spoken: _Spoken) -> TurnId:
        return TurnId(spoken.response.turn_id, 0)

    def _show(self, spoken: _Spoken) -> None:
        text = spoken.text[spoken.shown :]
        spoken.shown = len(spoken.text)
        if text.strip():
            self._events(AnswerText(spoken.response, text))

    def _end(self, key: str) -> None:
        """Nothing more comes of a response's items."""
        if self.running == key:
            self.running = ""
        running = self._responses.get(key)
        for item in running.items if running is not None else ():
            spoken = self._spoken.get(item)
            if spoken is not None and not spoken.complete:
                spoken.complete = True
                self._show(spoken)
                self._speech.end(spoken.response)


def _forget(items: dict[str, _Said] | dict[str, _Spoken]) -> None:
    while len(items) > KEPT:
        del items[next(iter(items))]
