"""Drives pipecat's OpenAIRealtimeLLMService; run in an environment that has it.

python drive_pipecat.py BASE_URL RECORDING: prints a JSON object, check -> what came of it.
"""

import asyncio
import json
import os
import sys
import wave

from loguru import logger

logger.remove()

from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    EndFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

STEP_S = 0.1


def recording(path):
    with wave.open(path) as file:
        return file.readframes(file.getnframes()) + bytes(48000)


class Collector(FrameProcessor):
    """Keeps every frame that passes."""

    def __init__(self):
        super().__init__()
        self.frames = []
        self.changed = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        self.frames.append(frame)
        self.changed.set()
        await self.push_frame(frame, direction)

    def count(self, kind):
        return sum(isinstance(frame, kind) for frame in self.frames)

    def said(self):
        words = [f.text.split() for f in self.frames if isinstance(f, TTSTextFrame)]
        return " ".join(word for each in words for word in each)

    async def until(self, what, condition):
        try:
            async with asyncio.timeout(20):
                while not condition():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            kinds = [type(frame).__name__ for frame in self.frames]
            raise AssertionError(f"no {what}: {list(dict.fromkeys(kinds))} {self.said()}") from None


class Recorded(OpenAIRealtimeLLMService):
    """The service itself; what it receives is noted on its way."""

    def __init__(self, **options):
        super().__init__(**options)
        self.sent = []

    async def send_client_event(self, event):
        self.sent.append(event.type)
        await super().send_client_event(event)


async def weather(params):
    await params.result_callback("sunny in " + params.arguments["city"])


async def held(base_url, text, check, *, tools=None):
    properties = events.SessionProperties(
        instructions="Be brief.",
        audio=events.AudioConfiguration(
            input=events.AudioInput(
                transcription=events.InputAudioTranscription(model="whisper-1"),
                turn_detection=events.TurnDetection(silence_duration_ms=500),
            )
        ),
    )
    settings = Recorded.Settings(model="local", session_properties=properties)
    url = base_url.replace("http", "ws", 1) + "/realtime"
    llm = Recorded(api_key="none", base_url=url, settings=settings)
    llm.register_function("weather", weather)
    messages = [{"role": "user", "content": text}] if text else []
    context = LLMContext(messages, tools) if tools else LLMContext(messages)
    pair = LLMContextAggregatorPair(context)
    collector = Collector()
    pipeline = Pipeline([pair.user(), llm, collector, pair.assistant()])
    params = PipelineParams(audio_in_sample_rate=24000, audio_out_sample_rate=24000)
    task = PipelineTask(pipeline, params=params, cancel_on_idle_timeout=False)
    runner = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    try:
        await task.queue_frames([LLMContextFrame(context)])
        await check(task, collector, llm)
    finally:
        await task.queue_frames([EndFrame()])
        await asyncio.wait([runner], timeout=10)
        await task.cancel()
    errors = [frame.error for frame in collector.frames if isinstance(frame, ErrorFrame)]
    assert errors == [], errors


async def say(task, data):
    step = int(24000 * STEP_S) * 2
    for start in range(0, len(data), step):
        piece = data[start : start + step]
        await task.queue_frames([InputAudioRawFrame(piece, sample_rate=24000, num_channels=1)])
        await asyncio.sleep(STEP_S)


async def text_turn(base_url, _):
    async def check(task, collector, llm):
        await collector.until("end", lambda: collector.count(LLMFullResponseEndFrame))
        kinds = [type(frame).__name__ for frame in collector.frames]
        assert "LLMFullResponseStartFrame" in kinds, kinds
        assert collector.said() == "You said hello.", collector.said()
        await collector.until("audio", lambda: collector.count(TTSAudioRawFrame))

    await held(base_url, "hello", check)


async def audio_turn(base_url, sound):
    async def check(task, collector, llm):
        await collector.until("end", lambda: collector.count(LLMFullResponseEndFrame))
        speaking = asyncio.create_task(say(task, sound))
        await collector.until("answer", lambda: "You said what time" in collector.said())
        speaking.cancel()

    await held(base_url, "hello", check)


async def tools(base_url, _):
    schema = FunctionSchema("weather", "The weather.", {"city": {"type": "string"}}, ["city"])

    async def check(task, collector, llm):
        await collector.until(
            "answer", lambda: "The tool says" in collector.said() and "sunny" in collector.said()
        )

    await held(base_url, "twice please", check, tools=ToolsSchema([schema]))


async def interruption(base_url, sound):
    async def check(task, collector, llm):
        await collector.until("audio", lambda: collector.count(TTSAudioRawFrame))
        speaking = asyncio.create_task(say(task, sound))
        await collector.until("interruption", lambda: collector.count(InterruptionFrame))
        await collector.until("new answer", lambda: "what time is it" in collector.said())
        assert "conversation.item.truncate" in llm.sent, llm.sent
        speaking.cancel()

    await held(base_url, "count", check)


async def retrieve(base_url, sound):
    async def check(task, collector, llm):
        await collector.until("end", lambda: collector.count(LLMFullResponseEndFrame))
        added = []

        @llm.event_handler("on_conversation_item_created")
        async def _(service, item_id, item):
            added.append(item_id)

        speaking = asyncio.create_task(say(task, sound))
        await collector.until(
            "another answer", lambda: collector.count(LLMFullResponseEndFrame) > 1
        )
        item = await asyncio.wait_for(llm.retrieve_conversation_item(added[0]), 10)
        assert item.content[0].transcript == "what time is it", item
        speaking.cancel()

    await held(base_url, "hello", check)


async def errors(base_url, _):
    async def check(task, collector, llm):
        await collector.until("end", lambda: collector.count(LLMFullResponseEndFrame))
        try:
            await asyncio.wait_for(llm.retrieve_conversation_item("gone"), 10)
        except Exception as error:
            assert "gone" in str(error), error
        else:
            raise AssertionError("an item that is not there was retrieved")
        await llm.send_client_event(events.ResponseCancelEvent())
        await llm.send_client_event(events.ResponseCreateEvent())
        await collector.until(
            "another answer", lambda: collector.count(LLMFullResponseEndFrame) > 1
        )

    await held(base_url, "hello", check)


async def reconnect(base_url, sound):
    async def check(task, collector, llm):
        await collector.until("end", lambda: collector.count(LLMFullResponseEndFrame))
        # As a transport says it once all has been played; else the service truncates what was said
        # in the conversation before.
        await collector.push_frame(BotStoppedSpeakingFrame(), FrameDirection.UPSTREAM)
        await llm.reset_conversation()
        speaking = asyncio.create_task(say(task, sound))
        await collector.until("another answer", lambda: "what time is it" in collector.said())
        speaking.cancel()

    await held(base_url, "hello", check)


CHECKS = {
    "text turn": text_turn,
    "audio turn": audio_turn,
    "tools": tools,
    "interruption, truncate": interruption,
    "retrieve": retrieve,
    "errors": errors,
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
    print(json.dumps(results), flush=True)
    os._exit(0)  # a pipeline that was cancelled may not end


asyncio.run(main())
