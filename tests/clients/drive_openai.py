"""Drives the official Python client of the OpenAI API; run in an environment that has it.

python drive_openai.py BASE_URL RECORDING: prints a JSON object, check -> what came of it.
"""

import asyncio
import base64
import json
import sys
import wave

from openai import AsyncOpenAI

STEP_S = 0.1


def recording(path):
    """16-bit samples at 24 kHz, a second of silence behind them."""
    with wave.open(path) as file:
        assert (file.getframerate(), file.getnchannels()) == (24000, 1)
        return file.readframes(file.getnframes()) + bytes(48000)


async def until(connection, *kinds):
    """Events up to and including the first of one of these types."""
    events = []
    async with asyncio.timeout(20):
        async for event in connection:
            events.append(event)
            if event.type in kinds:
                return events
    raise AssertionError(f"no {kinds}: {[e.type for e in events]}")


async def say(connection, data):
    """As a microphone does."""
    step = int(24000 * STEP_S) * 2
    for start in range(0, len(data), step):
        piece = base64.b64encode(data[start : start + step]).decode()
        await connection.input_audio_buffer.append(audio=piece)
        await asyncio.sleep(STEP_S)


async def ask(connection, text):
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await connection.conversation.item.create(item=item)


async def text_turn(client, _):
    async with client.realtime.connect(model="local") as connection:
        await connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        await ask(connection, "hello")
        await connection.response.create()
        events = await until(connection, "response.done")
        text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        assert text.strip() == "You said hello.", text
        assert events[-1].response.status == "completed"


async def audio_turn(client, sound):
    async with client.realtime.connect(model="local") as connection:
        audio = {"input": {"transcription": {"model": "whisper-1"}}}
        await connection.session.update(session={"type": "realtime", "audio": audio})
        speaking = asyncio.create_task(say(connection, sound))
        events = await until(connection, "response.done")
        speaking.cancel()
        kinds = [event.type for event in events]
        for kind in ("input_audio_buffer.speech_started", "input_audio_buffer.committed"):
            assert kind in kinds, kinds
        heard = [e for e in events if e.type.endswith("input_audio_transcription.completed")]
        assert heard[0].transcript == "what time is it"
        data = [e.delta for e in events if e.type == "response.output_audio.delta"]
        assert sum(len(base64.b64decode(each)) for each in data) > 24000


async def tools(client, _):
    async with client.realtime.connect(model="local") as connection:
        tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
        await connection.session.update(
            session={"type": "realtime", "tools": [tool], "output_modalities": ["text"]}
        )
        await ask(connection, "twice please")
        await connection.response.create()
        events = await until(connection, "response.done")
        calls = [e for e in events if e.type == "response.function_call_arguments.done"]
        assert [call.name for call in calls] == ["weather"] * 2
        assert json.loads(calls[0].arguments) == {"city": "Paris"}
        for call in calls:
            item = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
            await connection.conversation.item.create(item=item)
        await connection.response.create()
        events = await until(connection, "response.done")
        text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        assert "The tool says sunny" in text, text


async def interruption(client, sound):
    async with client.realtime.connect(model="local") as connection:
        await ask(connection, "count")
        await connection.response.create()
        events = await until(connection, "response.output_audio.delta")
        item_id = events[-1].item_id
        speaking = asyncio.create_task(say(connection, sound))
        events = await until(connection, "response.done")
        kinds = [event.type for event in events]
        assert "input_audio_buffer.speech_started" in kinds, kinds
        assert events[-1].response.status == "cancelled"
        assert events[-1].response.status_details.reason == "turn_detected"
        await connection.conversation.item.truncate(
            item_id=item_id, content_index=0, audio_end_ms=500
        )
        events = await until(connection, "conversation.item.truncated", "error")
        assert events[-1].type == "conversation.item.truncated", events[-1]
        speaking.cancel()


async def truncate_and_retrieve(client, _):
    async with client.realtime.connect(model="local") as connection:
        await ask(connection, "hello")
        await connection.response.create()
        events = await until(connection, "response.done")
        item_id = events[-1].response.output[0].id
        for audio_end_ms in (700, 0):
            await connection.conversation.item.truncate(
                item_id=item_id, content_index=0, audio_end_ms=audio_end_ms
            )
            await until(connection, "conversation.item.truncated")
            await connection.conversation.item.retrieve(item_id=item_id)
            (item,) = [e.item for e in await until(connection, "conversation.item.retrieved")]
            words = item.content[0].transcript
            assert "You said hello.".startswith(words), words
            assert words != "You said hello.", words
        await connection.conversation.item.delete(item_id=item_id)
        await until(connection, "conversation.item.deleted")


async def errors(client, _):
    async with client.realtime.connect(model="local") as connection:
        await connection.conversation.item.retrieve(item_id="gone", event_id="mine")
        error = (await until(connection, "error"))[-1].error
        assert error.event_id == "mine"
        assert error.code == "item_retrieve_invalid_item_id"
        await connection.response.cancel()
        error = (await until(connection, "error"))[-1].error
        assert error.code == "response_cancel_not_active"
        await connection.send({"type": "nonsense"})
        error = (await until(connection, "error"))[-1].error
        assert (error.code, error.param) == ("invalid_value", "type")
        await connection.session.update(session={"type": "realtime"})
        await until(connection, "session.updated")


async def reconnect(client, sound):
    for _ in range(2):
        async with client.realtime.connect(model="local") as connection:
            first = await connection.recv()
            assert first.type == "session.created"
    await text_turn(client, sound)


CHECKS = {
    "text turn": text_turn,
    "audio turn": audio_turn,
    "tools": tools,
    "interruption": interruption,
    "truncate, retrieve, delete": truncate_and_retrieve,
    "errors": errors,
    "reconnect": reconnect,
}


async def main():
    base_url, path = sys.argv[1:3]
    sound = recording(path)
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    results = {}
    for name, check in CHECKS.items():
        try:
            await check(client, sound)
            results[name] = "passes"
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"[:500]
    print(json.dumps(results))


asyncio.run(main())
