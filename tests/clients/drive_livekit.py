"""Drives LiveKit's RealtimeModel for OpenAI, without a LiveKit server.

python drive_livekit.py BASE_URL RECORDING: prints a JSON object, check -> what came of it.
"""

import asyncio
import json
import sys
import wave

from livekit import rtc
from livekit.agents import llm
from livekit.plugins.openai.realtime import RealtimeModel

STEP_S = 0.1


def recording(path):
    with wave.open(path) as file:
        return file.readframes(file.getnframes()) + bytes(48000)


@llm.function_tool
async def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


class Reply:
    """What one generation brought."""

    def __init__(self):
        self.message_id = ""
        self.text = ""
        self.timed = []
        self.audio_s = 0.0
        self.calls = []

    async def read(self, generation):
        async def texts(message):
            async for piece in message.text_stream:
                self.text += str(piece)
                start = getattr(piece, "start_time", None)
                if isinstance(start, int | float):
                    self.timed.append(start)

        async def sounds(message):
            async for frame in message.audio_stream:
                self.audio_s += frame.duration

        async for message in generation.message_stream:
            self.message_id = message.message_id
            await asyncio.gather(texts(message), sounds(message))
        async for call in generation.function_stream:
            self.calls.append(call)
        return self


class Held:
    """A session, and all that it told."""

    def __init__(self, model):
        self.session = model.session()
        self.errors = []
        self.heard = []
        self.generations = asyncio.Queue()
        self.started = asyncio.Event()
        self.reconnected = asyncio.Event()
        self.context = llm.ChatContext()
        self.session.on("error", lambda event: self.errors.append(str(event.error)))
        self.session.on("input_audio_transcription_completed", self._heard)
        self.session.on("generation_created", self.generations.put_nowait)
        self.session.on("input_speech_started", lambda _: self.started.set())
        self.session.on("session_reconnected", lambda _: self.reconnected.set())

    def _heard(self, event):
        if event.is_final:
            self.heard.append(event.transcript)

    async def write(self, text):
        """Put it into the conversation, and wait until the server says that it is there."""
        self.context = self.session.chat_ctx.copy()
        self.context.add_message(role="user", content=text)
        await self.session.update_chat_ctx(self.context)

    async def reply(self):
        generation = await self.session.generate_reply()
        return await asyncio.wait_for(Reply().read(generation), 20)

    async def say(self, data):
        step = int(24000 * STEP_S) * 2
        for start in range(0, len(data), step):
            piece = data[start : start + step]
            self.session.push_audio(rtc.AudioFrame(piece, 24000, 1, len(piece) // 2))
            await asyncio.sleep(STEP_S)


def model_of(base_url):
    return RealtimeModel(base_url=base_url, api_key="none", model="local", voice="marin")


async def held(base_url, check):
    model = model_of(base_url)
    talk = Held(model)
    try:
        await check(talk)
    finally:
        await talk.session.aclose()
        await model.aclose()
    assert talk.errors == [], talk.errors


async def text_turn(base_url, _):
    async def check(talk):
        await talk.write("hello")
        reply = await talk.reply()
        assert reply.text.strip() == "You said hello.", reply.text
        assert reply.audio_s > 0.5, reply.audio_s
        assert reply.timed == sorted(reply.timed)
        assert len(reply.timed) >= 3, reply.timed  # each word has its time

    await held(base_url, check)


async def audio_turn(base_url, sound):
    async def check(talk):
        speaking = asyncio.create_task(talk.say(sound))
        generation = await asyncio.wait_for(talk.generations.get(), 20)
        reply = await Reply().read(generation)
        assert reply.text.strip() == "You said what time is it.", reply.text
        assert talk.heard == ["what time is it"], talk.heard
        speaking.cancel()

    await held(base_url, check)


async def tools(base_url, _):
    async def check(talk):
        await talk.session.update_tools([weather])
        await talk.write("twice please")
        reply = await talk.reply()
        assert [call.name for call in reply.calls] == ["weather"] * 2, reply.calls
        context = talk.session.chat_ctx.copy()
        for call in reply.calls:
            output = llm.FunctionCallOutput(
                call_id=call.call_id, name=call.name, output="sunny", is_error=False
            )
            context.items.append(output)
        await talk.session.update_chat_ctx(context)
        reply = await talk.reply()
        assert "The tool says sunny" in reply.text, reply.text

    await held(base_url, check)


async def interruption(base_url, sound):
    async def check(talk):
        await talk.write("count")
        generation = await talk.session.generate_reply()
        await talk.generations.get()
        reply = Reply()
        reading = asyncio.create_task(reply.read(generation))
        await asyncio.sleep(1.0)
        speaking = asyncio.create_task(talk.say(sound))
        await asyncio.wait_for(talk.started.wait(), 10)
        talk.session.interrupt()
        talk.session.truncate(
            message_id=reply.message_id,
            modalities=["audio", "text"],
            audio_end_ms=700,
            audio_transcript="This is",
        )
        await asyncio.wait_for(reading, 10)
        generation = await asyncio.wait_for(talk.generations.get(), 20)
        answer = await Reply().read(generation)
        assert "what time is it" in answer.text, answer.text
        speaking.cancel()

    await held(base_url, check)


async def editing(base_url, _):
    """Items are deleted and put in between others, as LiveKit keeps its context and the server's
    the same."""

    async def check(talk):
        await talk.write("hello")
        await talk.reply()
        context = talk.session.chat_ctx.copy()
        assert [item.role for item in context.items] == ["user", "assistant"], context.items
        context.items = context.items[:1]
        context.add_message(role="system", content="Rhyme.")
        await talk.session.update_chat_ctx(context)
        assert [item.role for item in talk.session.chat_ctx.items] == ["user", "system"]
        await talk.write("again")
        reply = await talk.reply()
        assert reply.text.strip() == "You said again.", reply.text

    await held(base_url, check)


async def reconnect(base_url, _):
    """As after twenty minutes: everything is sent again over a new connection."""

    model = RealtimeModel(
        base_url=base_url, api_key="none", model="local", max_session_duration=3.0
    )
    talk = Held(model)
    try:
        await talk.write("hello")
        await talk.reply()
        await asyncio.wait_for(talk.reconnected.wait(), 20)
        async with asyncio.timeout(10):  # what was said before is sent again
            while len(talk.session.chat_ctx.items) < 2:
                await asyncio.sleep(0.02)
        await talk.write("again")
        reply = await talk.reply()
        assert reply.text.strip() == "You said again.", reply.text
    finally:
        await talk.session.aclose()
        await model.aclose()
    assert talk.errors == [], talk.errors


CHECKS = {
    "text turn with word times": text_turn,
    "audio turn": audio_turn,
    "tools": tools,
    "interruption, truncate": interruption,
    "editing the conversation": editing,
    "reconnect": reconnect,
}


async def main():
    base_url, path = sys.argv[1:3]
    sound = recording(path)
    results = {}
    for name, check in CHECKS.items():
        try:
            async with asyncio.timeout(60):
                await check(base_url, sound)
            results[name] = "passes"
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"[:500]
    print(json.dumps(results))


asyncio.run(main())
