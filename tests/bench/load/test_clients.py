"""The clients of the load benchmark, on a line that answers as it is told to; time is counted."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from typing import cast

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection

from s2s.bench.load import clients
from s2s.bench.load.clients import HURRY, TALK_MESSAGES, LoadSeen, attend

Reply = Callable[[int, list[bool]], list[dict[str, object]]]
"""What a server sends behind the message of a number, given which messages were loud."""


class Clock:
    """Each look at it is a tenth of a second later, so that nobody has to wait."""

    def __init__(self) -> None:
        self.looks = 0

    def perf_counter(self) -> float:
        self.looks += 1
        return self.looks / 10


class Line(ClientConnection):
    """One connection. What the server sends is read before the next message is sent."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.loud: list[bool] = []
        self.settings: list[object] = []
        self._coming: asyncio.Queue[str] = asyncio.Queue()

    async def __aenter__(self) -> Line:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def recv(self, decode: bool | None = None) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return "{}"

    async def send(self, message: object, text: bool | None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        event = json.loads(str(message))
        if event["type"] != "input_audio_buffer.append":
            self.settings.append(event)
            return
        pcm = np.frombuffer(base64.b64decode(event["audio"]), "<i2")
        assert len(pcm) == 2400
        self.loud.append(bool(np.abs(pcm).max() > 1000))
        for each in self.reply(len(self.loud), self.loud):
            self._coming.put_nowait(json.dumps(each))
        await self._coming.join()

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            yield await self._coming.get()
            self._coming.task_done()


def attended(
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    sessions: int,
    talking: int,
    messages: int,
    *,
    hurries: bool = False,
) -> tuple[LoadSeen, list[Line]]:
    """What clients saw that send so many messages each."""
    lines: list[Line] = []

    def connect(url: str, **_: object) -> Line:
        assert url == "ws://127.0.0.1:9/v1/realtime?model=load"
        lines.append(Line(reply))
        return lines[-1]

    monkeypatch.setattr("websockets.asyncio.client.connect", connect)
    monkeypatch.setattr(clients, "time", Clock())
    seconds = (messages + 0.5) / 10
    return asyncio.run(attend(9, sessions, talking, seconds, hurries=hurries)), lines


def nothing(number: int, loud: list[bool]) -> list[dict[str, object]]:
    return []


def answer(number: int, loud: list[bool]) -> list[dict[str, object]]:
    """Two messages behind the last loud one the turn is over, and is answered at once."""
    if loud[-3:] != [True, False, False]:
        return []
    return [
        {"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 100 * number - 40},
        {"type": "response.output_audio.delta", "delta": ""},
        {"type": "response.output_audio.delta", "delta": ""},
        {"type": "response.done"},
    ]


def test_who_is_silent_sends_silence_and_wants_no_interruptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, (one, two) = attended(monkeypatch, nothing, 2, 0, 40)
    assert (seen.latencies_ms, seen.turns, seen.errors) == ([], 0, [])
    assert one.loud == two.loud == [False] * 40
    (settings,) = one.settings
    assert '"interrupt_response": false' in json.dumps(settings)


def test_who_talks_says_something_once_and_waits_for_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, (line,) = attended(monkeypatch, nothing, 1, 1, 60)
    first = line.loud.index(True)
    assert first == 10  # a second
    assert line.loud[first:] == [True] * TALK_MESSAGES + [False] * (60 - first - TALK_MESSAGES)


def test_who_was_answered_listens_and_speaks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, (line,) = attended(monkeypatch, answer, 1, 1, 60)
    assert seen.turns == len(seen.latencies_ms) == 2
    assert sum(line.loud) == 2 * TALK_MESSAGES
    again = line.loud.index(True, 10 + TALK_MESSAGES)
    assert again - (10 + TALK_MESSAGES) >= 20
    assert all(latency_ms >= 0 for latency_ms in seen.latencies_ms)


def test_who_hurries_speaks_shortly_and_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, (line,) = attended(monkeypatch, answer, 1, 1, 60, hurries=True)
    assert seen.turns == 4
    again = line.loud.index(True, 10 + TALK_MESSAGES // HURRY)
    assert sum(line.loud[:again]) == TALK_MESSAGES // HURRY
    assert again - 10 < 20  # before others have ended their pause


def test_two_who_talk_do_not_begin_together(monkeypatch: pytest.MonkeyPatch) -> None:
    _, (one, two, silent) = attended(monkeypatch, nothing, 3, 2, 30)
    assert two.loud.index(True) - one.loud.index(True) == 3
    assert not any(silent.loud)


def test_an_answer_is_timed_from_the_message_in_which_the_turn_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(number: int, loud: list[bool]) -> list[dict[str, object]]:
        ended: dict[str, object] = {
            "type": "input_audio_buffer.speech_stopped",
            "audio_end_ms": 1000,
        }
        sound: dict[str, object] = {"type": "response.output_audio.delta"}
        return [ended] if number == 20 else [sound, sound] if number == 22 else []

    (early_ms,) = attended(monkeypatch, late, 1, 1, 30)[0].latencies_ms

    def later(number: int, loud: list[bool]) -> list[dict[str, object]]:
        ended: dict[str, object] = {
            "type": "input_audio_buffer.speech_stopped",
            "audio_end_ms": 1500,
        }
        sound: dict[str, object] = {"type": "response.output_audio.delta"}
        return [ended] if number == 20 else [sound, sound] if number == 22 else []

    (late_ms,) = attended(monkeypatch, later, 1, 1, 30)[0].latencies_ms
    assert early_ms - late_ms == pytest.approx(5 * 2 * 100)  # five messages, two looks each


def test_sound_that_nobody_waited_for_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(number: int, loud: list[bool]) -> list[dict[str, object]]:
        return [{"type": "response.output_audio.delta"}, {"type": "rate_limits.updated"}]

    assert attended(monkeypatch, unasked, 1, 1, 5)[0].latencies_ms == []


def test_errors_of_the_server_and_of_the_line_are_told_shortly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(number: int, loud: list[bool]) -> list[dict[str, object]]:
        if number == 3:
            raise ConnectionResetError("x" * 500)
        return [{"type": "error", "error": {"message": "y" * 500}}] if number == 1 else []

    seen, _ = attended(monkeypatch, fails, 1, 0, 5)
    server, line = seen.errors
    assert len(server) == len(line) == 200
    assert server.startswith('{"message": "yyy')
    assert line.startswith("ConnectionResetError: xxx")


def test_what_was_seen_is_one_line_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def attends(
        port: int, sessions: int, talking: int, seconds: float, *, hurries: bool
    ) -> LoadSeen:
        assert hurries
        return LoadSeen([float(port), float(sessions), float(talking), seconds], 3, ["x"])

    monkeypatch.setattr(clients, "attend", attends)
    arguments = ["--port", "9", "--sessions", "5", "--talking", "2", "--seconds", "0.5", "--hurry"]
    assert clients.main(arguments) == 0
    told = cast("dict[str, object]", json.loads(capsys.readouterr().out))
    assert told == {"latencies_ms": [9.0, 5.0, 2.0, 0.5], "turns": 3, "errors": ["x"]}
