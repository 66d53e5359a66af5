"""Calls over the loopback: aiortc is the client, models are scripted, sessions are real."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import httpx2
import pytest
from websockets.asyncio.client import connect

from s2s.core.audio import resample
from s2s.core.untyped import is_mapping
from s2s.testing.simulator import tone
from tests.support.scripted_server import scripted_server
from tests.support.webrtc import HZ, Caller, ask, called

MANUAL: dict[str, object] = {"audio": {"input": {"turn_detection": None}}, "type": "realtime"}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with scripted_server() as made:
        yield made


def type_in(caller: Caller, text: str) -> None:
    content = [{"type": "input_text", "text": text}]
    caller.send(
        type="conversation.item.create",
        item={"type": "message", "role": "user", "content": content},
    )
    caller.send(type="response.create")


def loud_frames(caller: Caller) -> int:
    """Of 20 ms each."""
    return sum(level > 0.05 for _, level in caller.heard)


def test_a_typed_turn_is_heard_and_told_in_the_order_of_the_protocol(port: int) -> None:
    async def main() -> None:
        async with called(port) as caller:
            type_in(caller, "hello")
            await caller.event("output_audio_buffer.stopped")
            kinds = caller.kinds
            part = kinds.index("response.content_part.added")
            started = kinds.index("output_audio_buffer.started")
            done = kinds.index("response.done")
            assert part < started
            assert done < kinds.index("output_audio_buffer.stopped")
            assert "response.output_audio.delta" not in kinds
            said = await caller.event("response.output_audio_transcript.done")
            assert str(said["transcript"]).strip() == "You said hello."
            assert max(level for _, level in caller.heard) > 0.05

    asyncio.run(main())


def test_speech_is_heard_answered_and_interrupts_to_the_word(port: int) -> None:
    """What was heard is what the history holds: the item ends at the sample that left."""

    async def main() -> None:
        session = {"type": "realtime", "audio": {"input": {"transcription": {"model": "any"}}}}
        async with called(port, session) as caller:
            voice = resample(tone(1.0), 16_000, HZ)
            caller.microphone.say(voice)
            words = await caller.event("conversation.item.input_audio_transcription.completed")
            assert words["transcript"] == "what time is it"
            await caller.event("output_audio_buffer.stopped")
            type_in(caller, "count")
            await caller.event("output_audio_buffer.started", 2)
            caller.heard.clear()
            await caller.until(lambda: loud_frames(caller) >= 75)
            caller.microphone.say(voice)
            truncated = await caller.event("conversation.item.truncated")
            at = caller.kinds
            speech = len(at) - 1 - at[::-1].index("input_audio_buffer.speech_started")
            cleared = at.index("output_audio_buffer.cleared")
            assert speech < cleared < at.index("conversation.item.truncated")
            heard_ms = int(str(truncated["audio_end_ms"]))
            assert heard_ms >= 1_480  # no less than came
            item_id = str(truncated["item_id"])
            caller.send(type="conversation.item.retrieve", item_id=item_id)
            item = (await caller.event("conversation.item.retrieved"))["item"]
            words_heard = str(item["content"][0]["transcript"]).split()  # pyright: ignore
            told = [
                (str(event["delta"]), float(str(event["start_time"])))
                for event in caller.of("response.output_audio_transcript.delta")
                if event["item_id"] == item_id
            ]
            words_begun = [word for word, at_s in told if 1000 * at_s < heard_ms]
            begun = "".join(words_begun).split()
            assert words_heard == begun[: len(words_heard)]
            assert len(begun) - len(words_heard) <= 1  # the word that was cut

    asyncio.run(main())


def test_the_client_clears_what_is_played_and_goes_on(port: int) -> None:
    async def main() -> None:
        async with called(port, MANUAL) as caller:
            type_in(caller, "count")
            await caller.event("output_audio_buffer.started")
            caller.send(type="response.cancel")
            caller.send(type="output_audio_buffer.clear")
            await caller.event("output_audio_buffer.cleared")
            done = await caller.event("response.done")
            assert done["response"]["status"] in ("cancelled", "completed")  # pyright: ignore
            await caller.event("conversation.item.truncated")
            type_in(caller, "hello")
            await caller.event("output_audio_buffer.stopped")
            errors = [str(event["error"]["code"]) for event in caller.of("error")]  # pyright: ignore
            assert set(errors) <= {"response_cancel_not_active"}

    asyncio.run(main())


def test_a_second_socket_sees_and_steers_the_call_and_hangs_it_up(port: int) -> None:
    async def main() -> None:
        async with called(port) as caller:
            call_id = caller.location.rpartition("/")[2]
            url = f"127.0.0.1:{port}/v1/realtime"
            async with connect(f"ws://{url}?call_id={call_id}") as side:
                greeting = json.loads(await side.recv())
                assert greeting == caller.events[0]
                content = [{"type": "input_text", "text": "hello"}]
                item = {"type": "message", "role": "user", "content": content}
                await side.send(json.dumps({"type": "conversation.item.create", "item": item}))
                await caller.event("conversation.item.done")
                kinds = [json.loads(await side.recv())["type"] for _ in range(2)]
                assert kinds == ["conversation.item.added", "conversation.item.done"]
                async with httpx2.AsyncClient() as client:
                    calls = f"http://{url}/calls"
                    refer = await client.post(f"{calls}/{call_id}/refer")
                    assert refer.status_code == 400
                    assert (await client.post(f"{calls}/rtc_none/hangup")).status_code == 404
                    assert (await client.post(f"{calls}/{call_id}/hangup")).status_code == 200
                await side.wait_closed()
            await caller.until(caller.closed.is_set)

    asyncio.run(main())


async def socket_session(port: int, token: str) -> str:
    """The session that a socket with that token goes on with, or begins."""
    headers = {"X-S2S-Resume": token}
    url = f"ws://127.0.0.1:{port}/v1/realtime"
    async with connect(url, additional_headers=headers) as socket:
        return json.loads(await socket.recv())["session"]["id"]


def session_id(caller: Caller) -> object:
    session = caller.of("session.created")[0]["session"]
    assert is_mapping(session)
    return session["id"]


def test_a_call_that_stands_still_is_gone_on_with_on_a_socket(port: int) -> None:
    """Its client comes again while the server does not know yet that the call is broken."""

    async def main() -> None:
        token = "call-then-socket"
        async with called(port, MANUAL, resume=token) as caller:
            type_in(caller, "hello")
            await caller.event("output_audio_buffer.stopped")
            item = await caller.event("conversation.item.done")
            headers = {"X-S2S-Resume": token}
            url = f"ws://127.0.0.1:{port}/v1/realtime"
            async with connect(url, additional_headers=headers) as socket:
                created = json.loads(await socket.recv())
                assert created["session"]["id"] == session_id(caller)
                item_id = str(item["item"]["id"])  # pyright: ignore
                ask_for = {"type": "conversation.item.retrieve", "item_id": item_id}
                await socket.send(json.dumps(ask_for))
                kept = json.loads(await socket.recv())
                assert kept["type"] == "conversation.item.retrieved"
                assert kept["item"]["content"][0]["text"] == "hello"
            await caller.until(caller.closed.is_set)

    asyncio.run(main())


def test_a_socket_that_stands_still_is_gone_on_with_in_a_call(port: int) -> None:
    async def main() -> None:
        token = "socket-then-call"
        headers = {"X-S2S-Resume": token}
        url = f"ws://127.0.0.1:{port}/v1/realtime"
        async with connect(url, additional_headers=headers) as socket:
            created = json.loads(await socket.recv())
            async with called(port, resume=token) as caller:
                assert session_id(caller) == created["session"]["id"]
                type_in(caller, "hello")
                await caller.event("output_audio_buffer.stopped")
                assert max(level for _, level in caller.heard) > 0.05

    asyncio.run(main())


def test_a_call_that_its_client_ended_leaves_nothing(port: int) -> None:
    async def main() -> None:
        for token, by_post in (("ended-by-channel", False), ("ended-by-request", True)):
            async with called(port, MANUAL, resume=token) as caller:
                if by_post:
                    async with httpx2.AsyncClient() as client:
                        await client.post(f"http://127.0.0.1:{port}{caller.location}/hangup")
                else:
                    caller.channel.close()
                await caller.until(caller.closed.is_set)
                assert await socket_session(port, token) != session_id(caller)

    asyncio.run(main())


def test_an_offer_that_cannot_be_answered_leaves_what_was_kept(port: int) -> None:
    async def main() -> None:
        token = "offer-in-between"
        headers = {"X-S2S-Resume": token}
        url = f"ws://127.0.0.1:{port}/v1/realtime"
        socket = await connect(url, additional_headers=headers)
        created = json.loads(await socket.recv())
        socket.transport.abort()
        assert (await ask(port, "v=0\r\n", resume=token)).status_code == 400
        assert await socket_session(port, token) == created["session"]["id"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("offer", "session", "code"),
    [
        ("nothing", None, "invalid_offer"),
        ("v=0\r\n", None, "invalid_offer"),
        ("v=0\r\nm=audio 9\r\nm=application 9\r\n", None, "invalid_offer"),
        ("v=0\r\n", {"type": "nothing"}, "invalid_value"),
    ],
)
def test_an_offer_that_cannot_be_answered_is_told(
    port: int, offer: str, session: dict[str, object] | None, code: str
) -> None:
    answer = asyncio.run(ask(port, offer, session))
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


def test_events_that_cannot_be_read_cost_one_error(port: int) -> None:
    async def main() -> None:
        async with called(port) as caller:
            caller.channel.send(b"binary")
            caller.channel.send("no json")
            await caller.event("error", 2)
            codes = [event["error"]["code"] for event in caller.of("error")]  # pyright: ignore
            assert codes == ["invalid_event", "invalid_json"]

    asyncio.run(main())
