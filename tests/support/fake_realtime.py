"""A small Realtime server whose conversation a test scripts: real sockets, no models.

It speaks the protocol in the recorded order, hears speech by its loudness alone, and answers with
words whose sound the script gives. It serves the page as well. For clients under test; what a
server must do is tested on the real one.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s.core.audio import Block, from_int16, rms_db, to_int16
from s2s.transport.page import PAGE_HEADERS, page_file
from tests.support.ports import kept_port

if TYPE_CHECKING:
    from websockets.typing import Subprotocol

RATE_HZ = 24_000
SPEECH_DB = -45.0
PAUSE_S = 0.5
"""So much quiet ends what is said."""
DELTA_S = 0.1
WAIT_S = 30.0
"""A client that does not do what is waited for has failed."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: its words, each with as much sound, and how fast it is sent."""

    words: Sequence[str]
    word_s: float = 0.3
    audio: Block | None = None
    """float32 [samples] at 24 kHz of all of it; None: a tone."""
    real_time: float = 0.0
    """Seconds that each second of sound takes to be sent; 0: as fast as it goes."""
    error: str = ""
    """Fails with this, after its words."""
    times: bool = True
    """Its words say when they begin."""

    def sound(self) -> Block:
        """float32 [samples] at 24 kHz."""
        if self.audio is not None:
            return self.audio
        at_s = np.arange(int(len(self.words) * self.word_s * RATE_HZ)) / RATE_HZ
        return (0.2 * np.sin(2 * np.pi * 330.0 * at_s)).astype(np.float32)


@dataclass(slots=True)
class FakeScript:
    """What the server does. A test may change it while the server runs."""

    hears: Callable[[int], str] = lambda _: "what time is it"
    """What the n-th thing that was said is taken for; "" for nothing."""
    answers: Callable[[str], Reply] = lambda _: Reply(["It", "is", "noon", "by", "the", "clock."])
    key: str = ""
    full: bool = False
    delay_s: float = 0.0
    """Between the end of a turn and its answer."""
    voices: Sequence[str] = ("ann", "ben")
    remembers: bool = True
    greets: bool = True
    """False: says nothing when a socket is opened, as something that is no Realtime server."""


@dataclass(slots=True)
class _Session:
    """What outlives a socket."""

    id: str
    items: list[str] = field(default_factory=list)


class _Conversation:
    """One socket."""

    def __init__(self, server: FakeRealtime, send: Callable[[Json], None], session: _Session):
        self._server = server
        self._send = send
        self._session = session
        self._rest = np.zeros(0, dtype=np.float32)
        self._heard_samples = 0
        self._quiet_samples = 0
        self._speech: str | None = None
        self._response: asyncio.Task[None] | None = None
        self._response_id = ""
        self._vad = True
        self.interrupted = ""

    def tell(self, kind: str, **fields: object) -> None:
        self._send({"type": kind, "event_id": self._server.new_id("event"), **fields})

    def begin(self) -> None:
        self.tell("session.created", session={"id": self._session.id, **SESSION})

    async def received(self, event: Json) -> None:
        kind = event["type"]
        if kind == "input_audio_buffer.append":
            self._hear(base64.b64decode(str(event["audio"])))
        elif kind == "session.update":
            session = event["session"]
            assert isinstance(session, dict)
            turns = session.get("audio", {}).get("input", {}).get("turn_detection", self._vad)
            self._vad = bool(turns)
            self.tell("session.updated", session={"id": self._session.id, **SESSION, **session})
        elif kind == "input_audio_buffer.clear":
            self._speech = None
            self.tell("input_audio_buffer.cleared")
        elif kind == "input_audio_buffer.commit":
            self._commit(self._speech or self._server.new_id("item"))
        elif kind == "conversation.item.create":
            self._create(event["item"])
        elif kind == "conversation.item.truncate":
            self.tell(
                "conversation.item.truncated",
                item_id=event["item_id"],
                content_index=0,
                audio_end_ms=event["audio_end_ms"],
            )
        elif kind == "response.create":
            await self._answer()
        elif kind == "response.cancel":
            if not await self.stop("client_cancelled"):
                self._fail(
                    "response_cancel_not_active",
                    "Cancellation failed: no active response found",
                    event,
                )
        else:
            self._fail("invalid_value", f"unknown event {kind}", event)

    def _fail(self, code: str, message: str, event: Json) -> None:
        error = {
            "type": "invalid_request_error",
            "code": code,
            "message": message,
            "param": None,
            "event_id": event.get("event_id"),
        }
        self.tell("error", error=error)

    # --- hearing -------------------------------------------------------------------------------

    def _hear(self, pcm: bytes) -> None:
        block = from_int16(np.frombuffer(pcm, dtype="<i2"))
        self._heard_samples += len(block)
        loud = len(block) > 0 and rms_db(block) > SPEECH_DB
        now_ms = 1000 * self._heard_samples // RATE_HZ
        if not self._vad:
            return
        if loud and self._speech is None:
            self._speech = self._server.new_id("item")
            self._quiet_samples = 0
            self.tell(
                "input_audio_buffer.speech_started", audio_start_ms=now_ms, item_id=self._speech
            )
            self._later(self.stop("turn_detected"))
        elif self._speech is not None:
            self._quiet_samples = 0 if loud else self._quiet_samples + len(block)
            if self._quiet_samples > PAUSE_S * RATE_HZ:
                item, self._speech = self._speech, None
                self.tell("input_audio_buffer.speech_stopped", audio_end_ms=now_ms, item_id=item)
                if self._commit(item):
                    self._later(self._answer())

    def _later(self, work: object) -> None:
        assert asyncio.iscoroutine(work)
        self._server.keep(asyncio.ensure_future(work))

    def _commit(self, item: str) -> bool:
        """Take what was said for a turn; whether it held words."""
        words = self._server.next_words()
        previous = self._session.items[-1] if self._session.items else None
        self._speech = None
        self.tell("input_audio_buffer.committed", item_id=item, previous_item_id=previous)
        content = [{"type": "input_audio", "transcript": None}]
        self._add({"id": item, "type": "message", "role": "user", "content": content})
        kind = "conversation.item.input_audio_transcription"
        for word in words.split():
            self.tell(f"{kind}.delta", item_id=item, content_index=0, delta=f"{word} ")
        if not words:
            error = {"type": "transcription_error", "message": "no words were heard"}
            self.tell(f"{kind}.failed", item_id=item, content_index=0, error=error)
            return False
        usage = {"type": "duration", "seconds": 1.0}
        self.tell(f"{kind}.completed", item_id=item, content_index=0, transcript=words, usage=usage)
        return True

    def _create(self, item: object) -> None:
        assert isinstance(item, dict)
        self._add({"id": self._server.new_id("item"), **item})
        texts = [part.get("text", "") for part in item.get("content", [])]
        self._server.heard.append(" ".join(texts))

    def _add(self, item: Mapping[str, object]) -> None:
        previous = self._session.items[-1] if self._session.items else None
        self._session.items.append(str(item["id"]))
        whole = {"object": "realtime.item", "status": "completed", **item}
        self.tell("conversation.item.added", previous_item_id=previous, item=whole)
        self.tell("conversation.item.done", previous_item_id=previous, item=whole)

    # --- answering -----------------------------------------------------------------------------

    async def stop(self, reason: str) -> bool:
        task = self._response
        if task is None or task.done():
            return False
        self.interrupted = reason
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return True

    async def _answer(self) -> None:
        self._response = asyncio.ensure_future(self._speak())
        self._server.keep(self._response)

    async def _speak(self) -> None:
        response = self._server.new_id("resp")
        await asyncio.sleep(self._server.script.delay_s)
        reply = self._server.script.answers(self._server.heard[-1] if self._server.heard else "")
        whole: Json = {"id": response, "object": "realtime.response", "metadata": None}
        self.tell("response.created", response=whole | {"status": "in_progress", "output": []})
        item = self._server.new_id("item")
        at = {"response_id": response, "output_index": 0}
        part = {**at, "item_id": item, "content_index": 0}
        empty = {"id": item, "type": "message", "role": "assistant", "content": []}
        previous = self._session.items[-1] if self._session.items else None
        self.tell("response.output_item.added", **at, item=empty | {"status": "in_progress"})
        self.tell("conversation.item.added", previous_item_id=previous, item=empty)
        self._session.items.append(item)
        self.tell("response.content_part.added", **part, part={"type": "audio", "transcript": ""})
        status, said = "completed", ""
        try:
            for words in self._parts(reply, part):
                said = words
                await asyncio.sleep(reply.real_time * DELTA_S)
        except asyncio.CancelledError:
            status = "cancelled"
        if reply.error:
            status = "failed"
        self.tell("response.output_audio.done", **part)
        self.tell("response.output_audio_transcript.done", **part, transcript=said)
        content = [{"type": "output_audio", "transcript": said}]
        ended = empty | {
            "content": content,
            "status": "completed" if status == "completed" else "incomplete",
        }
        self.tell("response.content_part.done", **part, part={"type": "audio", "transcript": said})
        self.tell("conversation.item.done", previous_item_id=previous, item=ended)
        self.tell("response.output_item.done", **at, item=ended)
        details: Json | None = None
        if status == "cancelled":
            details = {"type": "cancelled", "reason": self.interrupted}
        if status == "failed":
            details = {"type": "failed", "error": {"type": "server_error", "message": reply.error}}
        self.tell(
            "response.done",
            response=whole | {"status": status, "status_details": details, "output": [ended]},
        )

    def _parts(self, reply: Reply, part: Json) -> Iterator[str]:
        """Send it piece by piece; yields what was said until then."""
        sound, sent, said = reply.sound(), 0, ""
        each = len(sound) // max(1, len(reply.words))
        step = int(DELTA_S * RATE_HZ)
        for index, word in enumerate(reply.words):
            text = word if index == len(reply.words) - 1 else f"{word} "
            said += text
            times = {"start_time": round(index * each / RATE_HZ, 3)} if reply.times else {}
            self.tell("response.output_audio_transcript.delta", **part, delta=text, **times)
            end = len(sound) if index == len(reply.words) - 1 else (index + 1) * each
            while sent < end:
                piece = to_int16(sound[sent : min(end, sent + step)]).astype("<i2").tobytes()
                sent = min(end, sent + step)
                delta = base64.b64encode(piece).decode()
                self.tell("response.output_audio.delta", **part, delta=delta)
                yield said


SESSION: Json = {
    "type": "realtime",
    "object": "realtime.session",
    "model": "fake",
    "output_modalities": ["audio"],
    "instructions": "",
    "audio": {
        "input": {"format": {"type": "audio/pcm", "rate": RATE_HZ}},
        "output": {"format": {"type": "audio/pcm", "rate": RATE_HZ}, "voice": "ann"},
    },
}


class FakeRealtime:
    """The server: in a thread of its own, on a port of its own, which it keeps when it is started
    again."""

    def __init__(self) -> None:
        self.script = FakeScript()
        self.received: list[Json] = []
        """Every event of every client."""
        self.sent: list[Json] = []
        self.heard: list[str] = []
        """What was said or typed."""
        self.offers: list[Mapping[str, str]] = []
        """Headers of each request for a socket."""
        self._newest: _Conversation | None = None
        self._numbers = itertools.count(1)
        self._said = 0
        self._changed = threading.Condition()
        self._sessions: dict[str, _Session] = {}
        self._sockets: set[asyncio.Transport] = set()
        self._tasks: set[asyncio.Future[None]] = set()
        self.port = kept_port()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/realtime"

    # --- for tests -----------------------------------------------------------------------------

    def wait(self, true: Callable[[], object], what: str) -> None:
        """Wait until `true`, which is asked after each event."""
        until_s = time.monotonic() + WAIT_S
        with self._changed:
            while not true():
                left_s = until_s - time.monotonic()
                assert left_s > 0, f"{what}; received {[each['type'] for each in self.received]}"
                self._changed.wait(min(left_s, 0.1))

    def wait_for(self, kind: str, count: int = 1) -> Json:
        """The `count`-th event of a kind that clients sent."""
        self.wait(lambda: len(self.of(kind)) >= count, f"no {kind} ({count})")
        return self.of(kind)[count - 1]

    def wait_for_sent(self, kind: str, count: int = 1) -> Json:
        """The `count`-th event of a kind that was sent to clients."""

        def found() -> list[Json]:
            return [each for each in self.sent if each["type"] == kind]

        self.wait(lambda: len(found()) >= count, f"no {kind} ({count}) was sent")
        return found()[count - 1]

    def of(self, kind: str) -> list[Json]:
        return [each for each in self.received if each["type"] == kind]

    def push(self, kind: str, **fields: object) -> None:
        """Send an event to the newest client, whatever the conversation is at."""
        assert self._newest is not None
        self._loop.call_soon_threadsafe(lambda: self._newest and self._newest.tell(kind, **fields))

    def drop(self) -> None:
        """Cut every socket, without a word; new ones are taken."""
        self._loop.call_soon_threadsafe(self._abort)

    def start(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake-realtime", daemon=True)
        self._thread.start()
        assert self._ready.wait(WAIT_S)

    def stop(self) -> None:
        """As if its machine had lost its power: sockets end without a word."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    # --- for conversations ---------------------------------------------------------------------

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._numbers):06d}"

    def next_words(self) -> str:
        words = self.script.hears(self._said)
        self._said += 1
        if words:
            self.heard.append(words)
        return words

    def keep(self, task: asyncio.Future[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- inside --------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self._serve())
        self._loop.call_soon(self._ready.set)
        self._loop.run_forever()
        server.close()
        self._abort()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    def _abort(self) -> None:
        for transport in list(self._sockets):
            transport.abort()

    async def _serve(self) -> asyncio.Server:
        from websockets.asyncio.server import ServerConnection, serve

        sockets = self._sockets

        class KnownConnection(ServerConnection):
            """One whose transport is known from its first moment: browsers open some to spare."""

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                assert isinstance(transport, asyncio.Transport)
                sockets.add(transport)
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                sockets.discard(self.transport)
                super().connection_lost(exc)

        served = await serve(
            self._client,
            "127.0.0.1",
            self.port,
            process_request=self._requested,
            select_subprotocol=_chosen,
            create_connection=KnownConnection,
            max_size=None,
            close_timeout=0.1,
        )
        return served.server  # pyright: ignore[reportReturnType]

    async def _client(self, connection: object) -> None:
        from websockets.asyncio.server import ServerConnection
        from websockets.exceptions import ConnectionClosed

        assert isinstance(connection, ServerConnection)
        assert connection.request is not None
        outgoing: asyncio.Queue[Json] = asyncio.Queue()

        async def write() -> None:
            while True:
                event = await outgoing.get()
                await connection.send(json.dumps(event))
                with self._changed:
                    self.sent.append(event)
                    self._changed.notify_all()

        writer = asyncio.ensure_future(write())
        session = self._session(_token(dict(connection.request.headers.raw_items())))
        conversation = self._newest = _Conversation(self, outgoing.put_nowait, session)
        if self.script.greets:
            conversation.begin()
        try:
            async for text in connection:
                event = json.loads(text)
                with self._changed:
                    self.received.append(event)
                    self._changed.notify_all()
                await conversation.received(event)
        except ConnectionClosed:
            pass
        finally:
            writer.cancel()
            await conversation.stop("client_cancelled")

    def _session(self, token: str) -> _Session:
        known = self._sessions.get(token) if self.script.remembers else None
        if known is None:
            known = self._sessions[token] = _Session(self.new_id("sess"))
        return known

    def _requested(self, connection: object, request: object) -> object:
        from websockets.asyncio.server import ServerConnection
        from websockets.datastructures import Headers
        from websockets.http11 import Request, Response

        assert isinstance(connection, ServerConnection)
        assert isinstance(request, Request)
        headers = dict(request.headers.raw_items())

        def answer(status: int, content: bytes, kind: str) -> Response:
            given = [("Content-Type", kind), ("Content-Length", str(len(content)))]
            given += [("Connection", "close"), *PAGE_HEADERS.items()]
            if status == 503:
                given.append(("Retry-After", "5"))
            return Response(status, "", Headers(given), content)

        path = request.path.partition("?")[0]
        allowed = not self.script.key or self.script.key in str(headers)
        page = page_file(path)
        if page is not None:
            return answer(200, page.content, page.media_type)
        if path == "/health":
            told: Json = {"status": "full" if self.script.full else "ok"}
        elif path == "/v1/models":
            told = {"object": "list", "data": []}
        elif path == "/v1/audio/voices":
            told = {"voices": list(self.script.voices)}
        elif path != "/v1/realtime":
            return answer(404, b'{"error": {"message": "no such path"}}', "application/json")
        else:
            self.offers.append(headers)
            if not allowed:
                return answer(401, ERROR_KEY, "application/json")
            return answer(503, ERROR_FULL, "application/json") if self.script.full else None
        if not allowed and path != "/health":
            return answer(401, ERROR_KEY, "application/json")
        return answer(200, json.dumps(told).encode(), "application/json")


ERROR_KEY = json.dumps(
    {"error": {"code": "invalid_api_key", "message": "a key is needed"}}
).encode()
ERROR_FULL = json.dumps(
    {"error": {"code": "session_limit_reached", "message": "all 1 places are taken"}}
).encode()


def _chosen(connection: object, offered: Sequence[str]) -> Subprotocol | None:
    from websockets.typing import Subprotocol

    return Subprotocol("realtime") if "realtime" in offered else None


def _token(headers: Mapping[str, str]) -> str:
    lower = {name.lower(): value for name, value in headers.items()}
    if "x-s2s-resume" in lower:
        return lower["x-s2s-resume"]
    offered = [each.strip() for each in lower.get("sec-websocket-protocol", "").split(",")]
    tokens = [
        each.removeprefix("s2s-resume.") for each in offered if each.startswith("s2s-resume.")
    ]
    return tokens[0] if tokens else str(time.monotonic_ns())


@pytest.fixture
def fake_realtime() -> Iterator[FakeRealtime]:
    """A scripted Realtime server."""
    pytest.importorskip("websockets")
    server = FakeRealtime()
    try:
        yield server
    finally:
        server.stop()
