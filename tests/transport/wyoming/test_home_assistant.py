"""A pipeline of Home Assistant, replayed: finding the services, the wake word, words, an answer and
its voice, each on a connection of its own.

`tests/data/wyoming/home_assistant.jsonl` has the events of its integration `wyoming` (stt, tts,
conversation, wake_word) and the flows of the protocol's own description, in their order. Like Home
Assistant, the replay passes over what it does not wait for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

import pytest

from s2s.core.audio import to_int16
from s2s.testing.simulator import tone
from tests.support.recordings import DATA
from tests.support.wyoming import WAIT_S, silence, wyoming_served


class Line(NamedTuple):
    """One event of the exchange."""

    connection: str
    ours: bool
    type: str
    data: Mapping[str, object]
    payload: bytes

    def written(self) -> bytes:
        """As its bytes: the data behind the line, as the official package writes it."""
        data = json.dumps(self.data).encode() if self.data else b""
        head: dict[str, object] = {"type": self.type, "version": "1.10.2"}
        head |= {"data_length": len(data)} if data else {}
        head |= {"payload_length": len(self.payload)} if self.payload else {}
        return json.dumps(head).encode() + b"\n" + data + self.payload


def line_of(text: str) -> Line:
    given = json.loads(text)
    sound = b""
    if (ms := given.get("speech_ms")) is not None:
        sound = to_int16(tone(ms / 1000)).tobytes()
    elif (ms := given.get("silence_ms")) is not None:
        sound = to_int16(silence(ms / 1000)).tobytes()
    ours = given["from"] == "server"
    return Line(given["connection"], ours, given["type"], given.get("data", {}), sound)


LINES = [
    line_of(text)
    for text in (DATA / "wyoming" / "home_assistant.jsonl").read_text("utf-8").splitlines()
]
CONNECTIONS = {name: list(lines) for name, lines in groupby(LINES, lambda line: line.connection)}


async def replayed(port: int, lines: list[Line]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for line in lines:
        if not line.ours:
            writer.write(line.written())
            continue
        while True:
            head = json.loads(await asyncio.wait_for(reader.readline(), WAIT_S))
            assert head["type"] != "error"
            data = json.loads(await reader.readexactly(head.get("data_length", 0)) or b"{}")
            await reader.readexactly(head.get("payload_length", 0))
            if head["type"] == line.type:
                break
        assert line.data.items() <= data.items()
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("name", CONNECTIONS)
def test_a_pipeline_of_home_assistant_is_served(name: str) -> None:
    with wyoming_served() as port:
        asyncio.run(replayed(port, CONNECTIONS[name]))
