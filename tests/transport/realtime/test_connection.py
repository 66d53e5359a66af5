"""A connection: texts in and out of an event loop, a session in other threads behind it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.core.events import AnswerText, ResponseDone, ResponseStarted
from s2s.transport.realtime.connection import (
    ConnectionRequest,
    KeptConversation,
    RealtimeService,
)
from s2s.transport.realtime.faults import ClientFault, SessionFieldError
from tests.support.realtime_client import RATE_HZ, FakeSession, rid


class FakeSocket:
    """What the test sends, and what it was sent; it reads as slowly as the test wants."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[str | None] = asyncio.Queue()
        self.outgoing: asyncio.Queue[str] = asyncio.Queue()
        self.reading = asyncio.Event()
        self.reading.set()
        self.gone = False
        self.closed: list[int] = []

    async def receive_text(self) -> str | None:
        return await self.incoming.get()

    async def send_text(self, text: str) -> None:
        await self.reading.wait()
        if self.gone:
            raise ConnectionResetError("the client has gone")
        self.outgoing.put_nowait(text)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed.append(code)

    def say(self, kind: str, **fields) -> None:
        self.incoming.put_nowait(json.dumps({"type": kind, **fields}))

    async def event(self) -> dict:
        return json.loads(await self.outgoing.get())

    async def until(self, kind: str) -> dict:
        while (event := await self.event())["type"] != kind:
            pass
        return event


class Opened:
    """The sessions that were opened, and what each was opened with."""

    def __init__(self) -> None:
        self.sessions: list[FakeSession] = []
        self.transports = []
        self.options: list[dict] = []

    def __call__(self, transport, events, **options):
        session = FakeSession(events)
        session.tell_sound = lambda response, block, text: transport.playback.write_beside(
            block, response, text, stale=lambda: False
        )
        self.sessions.append(session)
        self.transports.append(transport)
        self.options.append(options)
        return session


def held(test: Callable) -> None:
    """Run a test on an event loop; nothing in it may take long."""

    async def run() -> None:
        async with asyncio.timeout(30):
            await test()

    asyncio.run(run())


def service(opened: Opened, **options) -> RealtimeService:
    return RealtimeService(
        opened,
        ManualClock(),
        RATE_HZ,
        instructions="Be brief.",
        voice="aria",
        voices=frozenset({"aria"}),
        **options,
    )


def test_a_conversation_from_the_first_event_to_the_last():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        errors: list[str] = []
        request = ConnectionRequest(model="gpt-realtime", on_error=errors.append)
        life = asyncio.create_task(service(opened).converse(socket, request))
        created = await socket.event()
        assert created["type"] == "session.created"
        assert created["session"]["model"] == "gpt-realtime"
        session = opened.sessions[0]
        short = opened.options[0]["session_id"]
        assert created["session"]["id"] == f"sess_{short}"
        assert opened.options[0]["answering"].instructions == "Be brief."
        socket.say("response.create")
        key = (await socket.event())["response"]["id"]
        assert key == f"resp_{short}-w1"

        def speak() -> None:  # as a session does, in a thread of its own
            block = np.full(2400, 0.1, np.float32)
            session.tell(ResponseStarted(rid(key)))
            session.tell(AnswerText(rid(key), "Hello"))
            session.tell_sound(rid(key), block, "Hello")
            session.tell(ResponseDone(rid(key), "completed", "Hello"))

        thread = threading.Thread(target=speak)
        thread.start()
        done = await socket.until("response.done")
        thread.join()
        assert done["response"]["output"][0]["content"][0]["transcript"] == "Hello"
        socket.incoming.put_nowait("{")
        assert (await socket.until("error"))["error"]["code"] == "invalid_json"
        assert errors == ["invalid_json"]
        socket.incoming.put_nowait(None)
        assert await life is None
        assert session.closed

    held(test)


def test_sound_counts_as_sent_when_it_has_left():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        life = asyncio.create_task(service(opened).converse(socket, ConnectionRequest()))
        await socket.event()
        sent: list[int] = []
        session, transport = opened.sessions[0], opened.transports[0]
        transport.playback.sent = sent.append
        key = session.answer_turn()
        socket.reading.clear()
        session.tell(AnswerText(rid(key), "Hello"))
        session.tell_sound(rid(key), np.zeros(2400, np.float32), "Hello")
        socket.say("conversation.item.retrieve", item_id="gone")
        socket.say("conversation.item.retrieve", item_id="gone")
        while not socket.incoming.empty():
            await asyncio.wait_for(_turn(), 5)
        assert sent == []
        socket.reading.set()
        await socket.until("response.output_audio.delta")
        await socket.until("error")
        assert sent == [2400]
        socket.incoming.put_nowait(None)
        await life

    held(test)


async def _turn() -> None:
    """Let the others run."""
    loop = asyncio.get_running_loop()
    passed = loop.create_future()
    loop.call_soon(passed.set_result, None)
    await passed


def test_what_does_not_fit_is_heard_once_there_is_room():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        life = asyncio.create_task(service(opened).converse(socket, ConnectionRequest()))
        await socket.event()
        transport = opened.transports[0]
        heard, full = [], [True]

        def hear(audio) -> bool:
            if not full[0]:
                heard.append(len(audio))
            return not full[0]

        transport.hear = hear
        socket.say("input_audio_buffer.append", audio="A" * 64000)
        socket.say("response.cancel")
        for _ in range(10):
            await _turn()
        assert socket.outgoing.empty()  # nothing behind it is done before it is heard
        full[0] = False
        transport.on_room()
        assert (await socket.event())["type"] == "error"
        assert len(heard) == 1
        socket.incoming.put_nowait(None)
        await life

    held(test)


def test_a_client_that_is_gone_ends_the_session():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        life = asyncio.create_task(service(opened).converse(socket, ConnectionRequest()))
        await socket.event()
        socket.gone = True
        opened.sessions[0].hear_turn()
        assert await life is None
        assert opened.sessions[0].closed

    held(test)


def test_a_server_that_ends_closes_the_session():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        life = asyncio.create_task(service(opened).converse(socket, ConnectionRequest()))
        await socket.event()
        life.cancel()
        with pytest.raises(asyncio.CancelledError):
            await life
        assert opened.sessions[0].closed

    held(test)


def test_a_conversation_goes_on_over_another_connection():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        holds = service(opened)
        request = ConnectionRequest(may_resume=True)
        life = asyncio.create_task(holds.converse(socket, request))
        before = (await socket.event())["session"]
        socket.say("session.update", session={"type": "realtime", "instructions": "Rhyme."})
        socket.say("response.create")
        first = (await socket.until("response.created"))["response"]["id"]
        opened.sessions[0].hear_turn()
        socket.incoming.put_nowait(None)
        kept = await life
        assert isinstance(kept, KeptConversation)
        again = FakeSocket()
        request = ConnectionRequest(resumed=kept, may_resume=True)
        life = asyncio.create_task(holds.converse(again, request))
        after = (await again.event())["session"]
        assert after == {**before, "instructions": "Rhyme."}
        assert opened.options[1]["kept"] == opened.sessions[0].items
        assert opened.options[1]["session_id"] != opened.options[0]["session_id"]  # ids are new
        again.say("response.create")
        assert (await again.until("response.created"))["response"]["id"] != first
        again.incoming.put_nowait(None)
        await life

    held(test)


def test_a_conversation_goes_on_in_another_process():
    """What is told to be kept is plain values of JSON, and gives the same session elsewhere."""

    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        told: list[Callable[[], Mapping[str, object]]] = []
        life = asyncio.create_task(
            service(opened).converse(socket, ConnectionRequest(model="any", keep=told.append))
        )
        before = (await socket.event())["session"]
        assert len(told) == 1
        for _ in range(2):
            socket.say("input_audio_buffer.clear")
            await socket.until("input_audio_buffer.cleared")
            used = len(told)
        assert used == len(told) == 2  # the session is used, and later nothing else has changed
        socket.say("session.update", session={"type": "realtime", "instructions": "Rhyme."})
        await socket.until("session.updated")
        socket.say("response.create")
        first = (await socket.until("response.created"))["response"]["id"]
        opened.sessions[0].hear_turn()
        socket.incoming.put_nowait(None)
        await life
        written = json.loads(json.dumps(told[-1]()))
        assert written["entries"] == [each.item_id for each in opened.sessions[0].items]
        elsewhere, again = Opened(), FakeSocket()
        holds = service(elsewhere)
        request = ConnectionRequest(resumed=holds.restored(written, "other"), trouble="None.")
        life = asyncio.create_task(holds.converse(again, request))
        assert (await again.event())["session"] == {**before, "instructions": "Rhyme."}
        assert elsewhere.options[0]["kept"] == written
        error = (await again.until("error"))["error"]
        assert (error["type"], error["code"]) == ("server_error", "resume_unavailable")
        again.say("response.create")
        assert (await again.until("response.created"))["response"]["id"] != first
        again.incoming.put_nowait(None)
        await life

    held(test)


@pytest.mark.parametrize(
    "damaged",
    [
        {},
        {"session": {}, "used": 1},
        {"session": {"values": {"id": "a", "expires_at": 1, "type": "song"}}, "used": 1},
        {"session": {"values": {"id": "a", "expires_at": 1, "type": "realtime", "x": 1,
                                "tools": 3}}, "used": 1},
        {"session": [], "used": 1},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_no_conversation(damaged: dict[str, object]):
    assert service(Opened()).restored(damaged) is None


def test_a_session_that_lasts_too_long_ends_with_an_error():
    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        holds = service(opened, max_session_s=0.0)
        life = asyncio.create_task(holds.converse(socket, ConnectionRequest()))
        assert (await socket.until("error"))["error"]["code"] == "session_expired"
        await life
        assert socket.closed == [1000]
        assert opened.sessions[0].closed

    held(test)


def test_the_settings_of_a_client_secret():
    holds = service(Opened())
    session = holds.validate_session({"type": "realtime", "instructions": "Rhyme."})
    assert session["instructions"] == "Rhyme."
    assert session["object"] == "realtime.session"
    kind = holds.validate_session({"type": "transcription"})
    assert kind["object"] == "realtime.transcription_session"
    with pytest.raises(SessionFieldError) as refused:
        holds.validate_session({"type": "realtime", "audio": {"output": {"speed": 9}}})
    assert refused.value.param == "session.audio.output.speed"
    assert refused.value.code == "invalid_value"
    with pytest.raises(ClientFault):
        holds.validate_session({})
    secret = ConnectionRequest(model="gpt-realtime", session=session)
    opened = holds.session_object(secret, "sess_1").echo()
    assert (opened["instructions"], opened["model"]) == ("Rhyme.", "gpt-realtime")
    assert opened["id"] == "sess_1"


def test_a_response_to_a_commit_is_told_behind_its_item():
    """The session commits in a thread of its own, after the client has asked for more."""

    async def test() -> None:
        opened, socket = Opened(), FakeSocket()
        life = asyncio.create_task(service(opened).converse(socket, ConnectionRequest()))
        await socket.event()
        session = opened.sessions[0]
        session.commit = lambda: None
        socket.say("input_audio_buffer.commit")
        socket.say("response.create")
        for _ in range(10):
            await _turn()
        assert socket.outgoing.empty()
        session.commit_turn("item_x-1")
        kinds = [(await socket.event())["type"] for _ in range(4)]
        assert kinds == [
            "input_audio_buffer.committed",
            "conversation.item.added",
            "conversation.item.done",
            "response.created",
        ]
        socket.incoming.put_nowait(None)
        await life

    held(test)
