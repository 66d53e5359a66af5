"""Several who talk at once to one server, on the models of a profile.

    python -m s2s.bench.load.at_once --talking 1,2,4 --seconds 70

Each says a recording in real time, hears the answer to its end, and speaks again. Told for each
number: from the last speech that was sent to the first sound of the answer at the client, and how
many answers fell silent in between because their sound was made too slowly. Prints a table and,
last, one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.entry import run_measurement
from s2s.bench.load.clients import MESSAGE_S, RATE_HZ, SILENCE
from s2s.bench.load.rows import AtOnceRow
from s2s.bench.load.run import served
from s2s.core.audio import Block, empty, read_wav, resample, to_int16
from s2s.core.metrics import percentile
from s2s.core.untyped import is_object

DATA = Path(__file__).parents[3] / "tests" / "data"
RECORDINGS = ("goforward.wav", "librivox_0880.wav", "librivox_0930.wav")
FRAME_S = 0.01
SPEECH_DB = -25.0
"""What is softer than the loudest frame by more is no speech: how a recording's end is found."""
SETTLED_S = 0.5
"""Between the end of an answer and the next question."""
GIVEN_UP_S = 10.0
"""An answer that takes longer is counted as missing."""
GAP_S = 0.05
"""A shorter silence inside an answer is not heard as one."""


@dataclass(slots=True)
class PlayedAnswer:
    """An answer as it is played while it comes."""

    first_s: float | None = None
    """When its first sound was there."""
    until_s: float = 0.0
    """When all that came has been played."""
    gap_s: float = 0.0
    """Silence inside of it."""

    def sound(self, now_s: float, seconds: float) -> None:
        """So much more of it has come."""
        if self.first_s is None:
            self.first_s = self.until_s = now_s
        self.gap_s += max(0.0, now_s - self.until_s)
        self.until_s = max(now_s, self.until_s) + seconds


@dataclass(slots=True)
class TalkersSeen:
    """What all who talk saw together."""

    latencies_ms: list[float] = field(default_factory=list[float])
    gaps: int = 0
    missing: int = 0


def speech_end(audio: Block, rate_hz: int) -> int:
    """One past the last sample of the speech in a recording, float32 [samples]."""
    size = int(FRAME_S * rate_hz)
    frames = audio[: len(audio) - len(audio) % size].reshape(-1, size)
    power = np.square(frames, dtype=np.float64).mean(axis=1)
    loud = np.flatnonzero(power > power.max() * 10 ** (SPEECH_DB / 10))
    return (int(loud[-1]) + 1) * size


def messages(audio: Block) -> list[str]:
    """A recording at the wire's rate, float32 [samples], as messages of a tenth of a second; the
    speech ends in the last one."""
    size = int(MESSAGE_S * RATE_HZ)
    spoken = audio[: speech_end(audio, RATE_HZ)]
    lead = np.concatenate([np.zeros(-len(spoken) % size, np.float32), spoken])
    return [
        json.dumps(
            {
                "type": "input_audio_buffer.append",
                "audio": base64.b64encode(to_int16(lead[at : at + size]).tobytes()).decode(),
            }
        )
        for at in range(0, len(lead), size)
    ]


class TalkingClient:
    """One session that speaks, listens, and speaks again."""

    def __init__(self, observed: TalkersSeen, questions: Sequence[Sequence[str]]) -> None:
        self._observed = observed
        self._questions = questions
        self._asked_s: float | None = None
        """When the last speech of the question was sent; None while it is being said."""
        self._answer = PlayedAnswer()
        self._response = ""
        """The response to the question."""
        self._done = False

    async def run(self, url: str, seconds: float, delay_s: float) -> None:
        """Talk for so long."""
        from websockets.asyncio.client import connect

        async with connect(url, max_size=None, compression=None) as socket:
            reading = asyncio.create_task(self._read(socket))
            due_s = time.perf_counter() + delay_s
            until_s = due_s + seconds
            turn = 0
            said: list[str] = []
            while said or time.perf_counter() < until_s or self._asked_s is not None:
                if not said and self._asked_s is None:
                    said = list(self._questions[turn % len(self._questions)])
                    turn += 1
                await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
                due_s += MESSAGE_S
                await socket.send(said.pop(0) if said else SILENCE)
                if not said:
                    self._heed(time.perf_counter())
            reading.cancel()

    def _heed(self, now_s: float) -> None:
        """Nothing is being said: the question is over, is being answered, or was."""
        if self._asked_s is None:
            self._asked_s, self._answer = now_s, PlayedAnswer()
            self._response, self._done = "", False
        elif self._done and now_s > self._answer.until_s + SETTLED_S:
            self._asked_s = None
        elif now_s > self._asked_s + GIVEN_UP_S and self._answer.first_s is None:
            self._observed.missing += 1
            self._asked_s = None

    async def _read(self, socket: object) -> None:
        from websockets.asyncio.client import ClientConnection

        assert isinstance(socket, ClientConnection)
        async for text in socket:
            now_s = time.perf_counter()
            event: object = json.loads(text)
            if is_object(event):
                self.note(event, now_s)

    def note(self, event: dict[str, object], now_s: float) -> None:
        """What the server said, and when."""
        if self._asked_s is None:
            return  # of something that was said before the question's end
        match event:
            case {"type": "response.created", "response": {"id": str(response)}}:
                self._response = response
            case {
                "type": "response.output_audio.delta",
                "response_id": str(r),
                "delta": str(delta),
            }:
                if r != self._response:
                    return
                if self._answer.first_s is None:
                    self._observed.latencies_ms.append(1000 * (now_s - self._asked_s))
                self._answer.sound(now_s, len(base64.b64decode(delta)) / 2 / RATE_HZ)
            case {"type": "response.done", "response": {"id": str(r)}} if r == self._response:
                self._done = True
                self._observed.gaps += self._answer.gap_s > GAP_S
            case _:
                pass


async def talk(port: int, talking: int, seconds: float) -> TalkersSeen:
    """So many talk at once for so long."""
    questions = [
        messages(np.concatenate([empty(), resample(audio, rate_hz, RATE_HZ)]))
        for audio, rate_hz in (read_wav(DATA / name) for name in RECORDINGS)
    ]
    observed = TalkersSeen()
    url = f"ws://127.0.0.1:{port}/v1/realtime?model=load"
    talkers = [
        TalkingClient(observed, questions[n % 3 :] + questions[: n % 3]) for n in range(talking)
    ]
    await asyncio.gather(
        *(each.run(url, seconds, 0.37 * number) for number, each in enumerate(talkers))
    )
    return observed


def row_of(talking: int, seen: TalkersSeen, cores: float) -> AtOnceRow:
    """What was seen, as figures."""
    found = seen.latencies_ms
    p50_ms = percentile(found, 0.5) if found else float("nan")
    most_ms = max(found, default=float("nan"))
    return AtOnceRow(talking, len(found), p50_ms, most_ms, seen.gaps, seen.missing, cores)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table and one JSON line."""
    parser = argparse.ArgumentParser(prog="python -m s2s.bench.load.at_once", description=__doc__)
    parser.add_argument("--profile", default="embedded", help="default: %(default)s")
    parser.add_argument("--talking", default="1,2,4", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=70.0, help="of each number")
    options = parser.parse_args(arguments)
    rows: list[AtOnceRow] = []
    print("talking  answers  p50 ms  slowest ms  with gaps  missing  server cores")
    for talking in map(int, options.talking.split(",")):
        with served(talking, options.profile) as server:
            asyncio.run(talk(server.port, 1, 1.0))  # nothing is measured that happens once
            start_s, start_cpu_s = time.perf_counter(), server.cpu_s()
            seen = asyncio.run(talk(server.port, talking, options.seconds))
            cores = (server.cpu_s() - start_cpu_s) / (time.perf_counter() - start_s)
        row = row_of(talking, seen, cores)
        rows.append(row)
        print(
            f"{row.talking:7}  {row.answers:7}  {row.p50_ms:6.0f}  {row.most_ms:10.0f}  "
            f"{row.gaps:9}  {row.missing:7}  {row.cores:12.2f}",
            flush=True,
        )
    print(json.dumps({"at_once": [asdict(row) for row in rows], "profile": options.profile,
                      "conditions": asdict(Conditions.here())}))  # fmt: skip
    return 1 if any(row.missing for row in rows) else 0


if __name__ == "__main__":
    sys.exit(run_measurement(main))
