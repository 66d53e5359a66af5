"""A stream of codes over a slow line, in simulated time: a server that makes frames, a line with a
delay, losses and a rate, a device that decodes and plays. Nothing is waited for; the same seed
gives the same line.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from s2s.core.arrays import Ids
from s2s.tts.codec_stream.messages import (
    CreditGrant,
    InputCancel,
    InputCancelled,
    SpeechConfig,
    parse_client,
    parse_server,
)
from s2s.tts.codec_stream.receiving import Codes, FrameReceiver, Over, StreamBegun
from s2s.tts.codec_stream.sending import FrameSender, Sent
from s2s.tts.codec_stream.source import CodecFormat, SpeechEnd, SpeechWish
from s2s.tts.qwen3 import FRAME_MS, ChunkSchedule, ScheduleConfig

CODEC = CodecFormat(16, 2048, 12.5, 24_000, "0123456789abcdef")
_FRAME_S = FRAME_MS / 1000


@dataclass(frozen=True)
class LineShape:
    """One direction of a line, on which all arrives in the order it was sent."""

    delay_s: float = 0.0
    loss: float = 0.0
    """Probability that a message must be sent again, which takes ``again_s`` more, and keeps all
    behind it waiting, as TCP does."""
    again_s: float = 0.0
    bytes_per_s: float = float("inf")


class Events:
    """What happens when, by a clock that goes from one to the next."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, due_s: float, happen: Callable[[], None]) -> None:
        """Have it happen then."""
        heapq.heappush(self._due, (max(due_s, self.now_s), next(self._order), happen))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._due:
            self.now_s, _, happen = heapq.heappop(self._due)
            happen()


class SimulatedLine:
    """One direction."""

    def __init__(
        self, events: Events, shape: LineShape, seed: int, arrived: Callable[[Sent], None]
    ) -> None:
        self._events, self._shape, self._arrived = events, shape, arrived
        self._random = random.Random(seed)
        self._free_s = self._last_s = 0.0
        self.payload_bytes = 0

    def send(self, message: Sent) -> None:
        """On its way; it arrives behind all that was sent before."""
        size = len(message.encode() if isinstance(message, str) else message)
        self.payload_bytes += size
        shape = self._shape
        self._free_s = max(self._free_s, self._events.now_s) + size / shape.bytes_per_s
        due_s = self._free_s + shape.delay_s
        while self._random.random() < shape.loss:
            due_s += shape.again_s
        self._last_s = max(self._last_s, due_s)
        self._events.at(self._last_s, lambda: self._arrived(message))


@dataclass
class Heard:
    """How one answer went, by the device's clock from the moment it asked."""

    first_chunk_s: float = 0.0
    """Until the first sound can be played."""
    stall_s: float = 0.0
    """Silence within the speech, if it was played from the first chunk on."""
    frames: int = 0
    codes: list[Ids] = field(default_factory=list)
    bytes_down: int = 0
    bytes_up: int = 0
    made: int = 0
    """Frames that the server computed."""
    ahead: int = 0
    """The most frames that it was ahead of the device's decoder."""
    cancel_s: float | None = None
    """From the device's cancel to its acknowledgement."""
    made_after_cancel: int = 0

    @property
    def bytes_per_s(self) -> float:
        """WebSocket payload in both directions for a second of speech."""
        return (self.bytes_down + self.bytes_up) / (self.frames * _FRAME_S)


class SimulatedServer:
    """Makes a frame each ``frame_s`` after a prompt of ``prefill_s``, as far as it is granted."""

    def __init__(
        self, events: Events, heard: Heard, frames: Ids, prefill_s: float, frame_s: float
    ) -> None:
        self._events, self._heard, self._frames = events, heard, frames
        self._prefill_s, self._frame_s = prefill_s, frame_s
        self.send: Callable[[Sent], None] = lambda _: None
        self._sender: FrameSender | None = None
        self._allowed = 0
        self._computes = self._cancelled = False

    def take(self, message: Sent) -> None:
        """A message of the device has arrived."""
        assert isinstance(message, str)
        match parse_client(message):
            case SpeechConfig() as config:
                self._sender = FrameSender(CODEC, config, 0)
                assert config.codec_stream is not None
                assert config.codec_stream.credit is not None
                self._allowed = config.codec_stream.credit
                for each in self._sender.begin("m", None):
                    self.send(each)
                self._compute(self._prefill_s + self._frame_s)
            case CreditGrant(frames=frames):
                self._allowed = frames
                self._compute(self._frame_s)
            case InputCancel(epoch=epoch):
                self._cancelled = True
                self.send(InputCancelled(epoch=epoch).written())
            case _:
                pass

    def _compute(self, takes_s: float) -> None:
        if not self._computes and not self._cancelled and self._heard.made < self._allowed:
            self._computes = True
            self._events.at(self._events.now_s + takes_s, self._made)

    def _made(self) -> None:
        self._computes = False
        heard, sender = self._heard, self._sender
        assert sender is not None
        if self._cancelled:
            heard.made_after_cancel += 1
            for each in sender.end(None):
                self.send(each)
            return
        if heard.made == len(self._frames):
            for each in sender.end(SpeechEnd("end", heard.made)):
                self.send(each)
            return
        heard.made += 1
        heard.ahead = max(heard.ahead, heard.made - heard.frames)
        for each in sender.push(self._frames[heard.made - 1], self._allowed):
            self.send(each)
        self._compute(self._frame_s)


@dataclass(frozen=True)
class Device:
    """Decodes in so many milliseconds a call and a frame, holds as much sound as ``hold_s`` ahead,
    and says cancel after ``cancel_after_s`` of sound."""

    schedule: ScheduleConfig
    window: int = 48
    per_message: int = 4
    call_s: float = 0.004
    decode_s: float = 0.012
    hold_s: float = 2.0
    cancel_after_s: float | None = None


class SimulatedDevice:
    """The receiver, the schedule of chunks, and a loudspeaker."""

    def __init__(self, events: Events, heard: Heard, device: Device) -> None:
        self._events, self._heard, self._device = events, heard, device
        self.receiver = FrameReceiver(CODEC, device.window, device.per_message)
        self.send: Callable[[Sent], None] = lambda _: None
        self._schedule = ChunkSchedule(device.schedule)
        self._arrived: list[Ids] = []
        self._waiting: list[Ids] = []
        self._taken = 0
        self._over = self._decodes = False
        self._plays_until_s: float | None = None
        self._cancelled_s: float | None = None

    def ask(self, wish: SpeechWish) -> None:
        """Begin."""
        for each in self.receiver.ask(wish):
            self.send(each)

    def take(self, message: Sent) -> None:
        """A message of the server has arrived."""
        if isinstance(message, str) and self._cancelled_s is not None:
            if isinstance(parse_server(message), InputCancelled):
                self._heard.cancel_s = self._events.now_s - self._cancelled_s
            return
        for event in self.receiver.receive(message):
            match event:
                case Codes(codes=codes):
                    self._arrived += list(codes)
                case Over():
                    self._over = True
                case StreamBegun():
                    pass
                case _:
                    raise AssertionError(event)
        self._go_on()

    def _go_on(self) -> None:
        """Take frames one by one until a chunk is due, as the real one does."""
        if self._decodes or self._cancelled_s is not None:
            return
        until_s = self._plays_until_s
        if until_s is not None and until_s - self._events.now_s > self._device.hold_s:
            self._events.at(until_s - self._device.hold_s, self._go_on)
            return
        while self._arrived or self._over:
            if self._arrived:
                self._waiting.append(self._arrived.pop(0))
                self._taken += 1
                grant = self.receiver.taken(self._taken)
                if grant is not None:
                    self.send(grant)
            ended = self._over and not self._arrived
            if self._schedule.emit(self._taken, ended, 1000 * self._events.now_s):
                chunk, self._waiting = self._waiting, []
                took_s = self._device.call_s + len(chunk) * self._device.decode_s
                self._decodes = True
                self._schedule.decoded(len(chunk), 1000 * took_s)
                self._events.at(self._events.now_s + took_s, partial(self._play, chunk))
                return
            if ended:
                return

    def _play(self, chunk: list[Ids]) -> None:
        heard, now_s = self._heard, self._events.now_s
        self._decodes = False
        heard.codes += chunk
        heard.frames += len(chunk)
        if self._plays_until_s is None:
            heard.first_chunk_s = self._plays_until_s = now_s
        heard.stall_s += max(0.0, now_s - self._plays_until_s)
        self._plays_until_s = max(now_s, self._plays_until_s) + len(chunk) * _FRAME_S
        after_s = self._device.cancel_after_s
        if after_s is not None and heard.frames * _FRAME_S >= after_s:
            self._cancelled_s = now_s
            for each in self.receiver.cancel():
                self.send(each)
            return
        self._go_on()


def speak(
    frames: Ids,
    line: LineShape,
    device: Device,
    *,
    prefill_s: float = 0.1,
    frame_s: float = 0.03,
    seed: int = 0,
) -> Heard:
    """One answer from its asking to its end. frames: int64 [n, 16]."""
    events, heard = Events(), Heard()
    server = SimulatedServer(events, heard, frames, prefill_s, frame_s)
    here = SimulatedDevice(events, heard, device)
    down = SimulatedLine(events, line, 2 * seed, here.take)
    up = SimulatedLine(events, line, 2 * seed + 1, server.take)
    server.send, here.send = down.send, up.send
    here.ask(SpeechWish("This is what is said, of the length of an answer.", "vivian", "English"))
    events.run()
    heard.bytes_down, heard.bytes_up = down.payload_bytes, up.payload_bytes
    return heard


def random_frames(count: int, seed: int = 0) -> Ids:
    """int64 [count, 16]."""
    return np.random.Generator(np.random.PCG64(seed)).integers(1, 2048, (count, 16))
