"""Drives openai-agents (Python); run in an environment that has it.

python drive_agents.py BASE_URL RECORDING: prints a JSON object, check -> what came of it.
"""

import asyncio
import json
import sys
import wave

from agents import function_tool, set_tracing_disabled
from agents.realtime import RealtimeAgent, RealtimeRunner

set_tracing_disabled(True)
STEP_S = 0.1


def recording(path):
    with wave.open(path) as file:
        return file.readframes(file.getnframes()) + bytes(48000)


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


class Heard:
    """A session, and all that it told."""

    def __init__(self, session):
        self.session = session
        self.events = []
        self.changed = asyncio.Event()

    async def listen(self):
        async for event in self.session:
            self.events.append(event)
            self.changed.set()

    def kinds(self):
        return [event.type for event in self.events]

    def raw(self):
        """Types of the server's events."""
        data = [e.data for e in self.events if e.type == "raw_model_event"]
        return [each.data.get("type") for each in data if each.type == "raw_server_event"]

    def errors(self):
        return [str(event.error) for event in self.events if event.type == "error"]

    async def until(self, what, condition):
        try:
            async with asyncio.timeout(20):
                while not condition():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise AssertionError(f"no {what}: {self.raw()} {self.errors()}") from None

    async def say(self, data):
        step = int(24000 * STEP_S) * 2
        for start in range(0, len(data), step):
            await self.session.send_audio(data[start : start + step])
            await asyncio.sleep(STEP_S)

    def done(self):
        return self.raw().count("response.done")

    def words(self, role):
        """What the history holds of one side."""
        updates = [e for e in self.events if e.type == "history_updated"]
        items = updates[-1].history if updates else []
        parts = [c for i in items if getattr(i, "role", "") == role for c in i.content]
        return " ".join(
            getattr(c, "transcript", None) or getattr(c, "text", "") or "" for c in parts
        )


async def held(base_url, check, *, tools=()):
    agent = RealtimeAgent(name="assistant", instructions="Be brief.", tools=list(tools))
    url = base_url.replace("http", "ws", 1) + "/realtime?model=local"
    runner = RealtimeRunner(agent)
    async with await runner.run(model_config={"url": url, "api_key": "none"}) as session:
        heard = Heard(session)
        task = asyncio.create_task(heard.listen())
        try:
            await check(heard)
        finally:
            task.cancel()
    assert heard.errors() == [], heard.errors()


async def text_turn(base_url, _):
    async def check(heard):
        await heard.session.send_message("hello")
        await heard.until("answer", lambda: "You said hello." in heard.words("assistant"))
        await heard.until("done", heard.done)

    await held(base_url, check)


async def audio_turn(base_url, sound):
    async def check(heard):
        speaking = asyncio.create_task(heard.say(sound))
        await heard.until("answer", lambda: "audio" in heard.kinds() and heard.done())
        await heard.until("question", lambda: "what time is it" in heard.words("user"))
        speaking.cancel()

    await held(base_url, check)


async def tools(base_url, _):
    async def check(heard):
        await heard.session.send_message("twice please")
        await heard.until("tools", lambda: heard.kinds().count("tool_end") == 2)
        await heard.until(
            "answer", lambda: "The tool says sunny in Paris" in heard.words("assistant")
        )

    await held(base_url, check, tools=[weather])


async def interruption(base_url, sound):
    async def check(heard):
        await heard.session.send_message("count")
        await heard.until("audio", lambda: "audio" in heard.kinds())
        speaking = asyncio.create_task(heard.say(sound))
        await heard.until("interruption", lambda: "audio_interrupted" in heard.kinds())
        await heard.until("truncation", lambda: "conversation.item.truncated" in heard.raw())
        await heard.until("retrieve", lambda: "conversation.item.retrieved" in heard.raw())
        await heard.until("new answer", lambda: heard.done() >= 2)
        speaking.cancel()

    await held(base_url, check)


async def errors(base_url, _):
    """Messages one behind the other, and its own interruption while nothing is answered."""

    async def check(heard):
        await heard.session.send_message("hello")
        await heard.session.send_message("again")
        await heard.until("answer", lambda: "You said" in heard.words("assistant"))
        await heard.until("done", heard.done)
        await heard.session.interrupt()
        done = heard.done()
        await heard.session.send_message("hello")
        await heard.until("another answer", lambda: heard.done() > done)

    await held(base_url, check)


async def reconnect(base_url, sound):
    await text_turn(base_url, sound)
    await text_turn(base_url, sound)


CHECKS = {
    "text turn": text_turn,
    "audio turn": audio_turn,
    "tools": tools,
    "interruption, truncate, retrieve": interruption,
    "errors": errors,
    "reconnect": reconnect,
}


async def main():
    base_url, path = sys.argv[1:3]
    sound = recording(path)
    results = {}
    for name, check in CHECKS.items():
        try:
            await check(base_url, sound)
            results[name] = "passes"
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"[:500]
    print(json.dumps(results))


asyncio.run(main())
