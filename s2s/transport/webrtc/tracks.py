"""The sound of a call on its way through aiortc: what the client is to hear, paced and as Opus, and
what it says.
"""

from __future__ import annotations

import asyncio
import fractions
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from s2s.core.audio import PIPELINE_HZ, Block, Resampler, from_int16, to_int16
from s2s.transport.realtime.server_playback import (
    CALL_HZ,
    FRAME_SAMPLES,
    FRAMES_PER_S,
    ServerPlayback,
)
from s2s.transport.webrtc.concealment import Concealment

if TYPE_CHECKING:
    from av import AudioFrame, Packet
    from av.stream import Stream

_TIME_BASE = fractions.Fraction(1, CALL_HZ)
PACKET_FRAMES = 2
"""Of 20 ms each: half of the packets are half of the work (docs/decisions/cpu-of-a-call.md)."""
PACKET_SAMPLES = PACKET_FRAMES * FRAME_SAMPLES
"""At 48 kHz, in which time is counted."""
BIT_RATE = 32_000
"""Of one voice; transparent for speech."""
CODING = {"application": "audio", "compression_level": "2", "frame_duration": "40"}
"""What costs least and sounds best at this rate: docs/decisions/cpu-of-a-call.md."""
SILENT_PACKET = b"\xf8"
"""A frame without data: the decoder makes silence of it until the next packet comes (RFC 6716,
section 2.1.9, discontinuous transmission)."""
SILENT_EVERY = 20 * FRAME_SAMPLES
"""Such a packet leaves every so many samples of silence, as encoders do it that save them."""
TAIL_PACKETS = 3
"""Silent ones that are encoded behind a sound, so that it ends softly."""
LATE_S = 0.2
"""Who was held up for longer goes on from now, and sends nothing in a heap."""


SOFT = 328
"""Peak of 16-bit samples below which nobody speaks: -40 dB."""
LONG_SILENCE = 3 * CALL_HZ
"""Samples of silence after which no pause is waited for: frames are heard together then."""
TOGETHER = 5
"""Frames: 200 ms of a browser that sends 40 at a time."""
Samples = npt.NDArray[np.int16]


class OpusVoice:
    """One stream of speech as packets of Opus.

    Args:
        rate_hz: of the speech, one that Opus takes.
    """

    def __init__(self, rate_hz: int) -> None:
        from av import AudioCodecContext

        codec = AudioCodecContext.create("libopus", "w")
        codec.bit_rate = BIT_RATE
        codec.format = "s16"
        codec.layout = "mono"
        codec.sample_rate = rate_hz
        codec.options = CODING
        codec.time_base = fractions.Fraction(1, rate_hz)
        self._codec = codec
        self._rate_hz = rate_hz
        self.packet_samples = rate_hz * PACKET_SAMPLES // CALL_HZ
        self._pts = 0

    def packet(self, sound: Block) -> bytes:
        """Float32 [packet_samples] as a packet."""
        from av import AudioFrame

        frame = AudioFrame.from_ndarray(to_int16(sound).reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = self._rate_hz
        frame.pts = self._pts
        frame.time_base = self._codec.time_base
        self._pts += len(sound)
        # The package's types leave open of which stream packets are.
        packets = self._codec.encode(frame)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return bytes(packets[0]) if packets else SILENT_PACKET  # pyright: ignore[reportUnknownArgumentType]


class AnswerSource(Protocol):
    """Where the sound of answers comes from: a `ServerPlayback`."""

    @property
    def playing(self) -> bool:
        """Sound leaves, or will."""
        ...

    def frame(self) -> Block | None:
        """The next 20 ms, which leave now; None where they are silent."""
        ...


class AnswerTrack(MediaStreamTrack):
    """What the client hears: a packet each 40 ms while there is sound, few in silence, and the
    first one at once."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._source: AnswerSource | None = None
        self._voice: OpusVoice | None = None
        self._silent_for = TAIL_PACKETS
        """Packets."""
        self._due = 0
        """Sample at which the next packet may leave."""
        self._told = -SILENT_EVERY
        """Sample of the last packet."""
        self._start_s: float | None = None
        """When sample 0 was due."""
        self._resting: asyncio.Future[None] | None = None

    def attach(self, source: AnswerSource) -> None:
        """From now on this is heard."""
        self._source = source
        self.wake()

    def wake(self) -> None:
        """There is something to be heard, after silence. On the track's event loop."""
        if self._resting is not None:
            _done(self._resting)

    async def recv(self) -> Packet[Stream]:
        """The next packet, when it is its time."""
        if self.readyState != "live":
            raise MediaStreamError
        while True:
            await self._until(self._due)
            data = self._data()
            if data is not None:
                return self._sent(data)
            source = self._source
            if source is None or not source.playing:
                await self._rest()
            else:  # more of it is being made
                self._due += PACKET_SAMPLES

    def _data(self) -> bytes | None:
        """What is to leave now; None: nothing, it is silent."""
        first = None if self._source is None else self._source.frame()
        self._silent_for = 0 if first is not None else self._silent_for + 1
        if self._voice is not None and self._silent_for <= TAIL_PACKETS and first is None:
            return self._voice.packet(np.zeros(self._voice.packet_samples, np.float32))
        if first is None or self._source is None:
            return SILENT_PACKET if self._due - self._told >= SILENT_EVERY else None
        if self._voice is None:
            self._voice = OpusVoice(len(first) * FRAMES_PER_S)
        second = self._source.frame()
        if second is None:
            second = np.zeros_like(first)
        return self._voice.packet(np.concatenate([first, second]))

    def _sent(self, data: bytes) -> Packet[Stream]:
        from av import Packet

        packet = Packet(data)
        packet.pts = self._told = self._due
        packet.time_base = _TIME_BASE
        self._due += PACKET_SAMPLES
        return packet

    async def _rest(self) -> None:
        """Until the next silent packet is due, or there is sound."""
        loop = asyncio.get_running_loop()
        assert self._start_s is not None
        silent_packet = self._told + SILENT_EVERY
        self._resting = loop.create_future()
        try:
            await self._until(silent_packet)
        finally:
            self._resting = None
        here = round((loop.time() - self._start_s) * CALL_HZ)
        woken = silent_packet - here > FRAME_SAMPLES // 4
        self._due = max(self._due, here) if woken else silent_packet

    async def _until(self, sample: int) -> None:
        """Until that sample is due, or one is woken who rests."""
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        if self._start_s is None:
            self._start_s = now_s
        due_s = self._start_s + sample / CALL_HZ
        if now_s - due_s > LATE_S:
            self._start_s += now_s - due_s
        elif due_s > now_s:
            due = self._resting or loop.create_future()
            timer = loop.call_at(due_s, _done, due)
            try:
                await due
            finally:
                timer.cancel()


class VoiceOfClient:
    """What the client says, from packets that came late, in another order, or not at all.

    After a long silence it is heard some frames at a time; what is louder is heard at once.
    """

    def __init__(self) -> None:
        self._hear: Callable[[Block], bool] = lambda _sound: False
        self._concealment = Concealment(CALL_HZ)
        self._resampler = Resampler(CALL_HZ, PIPELINE_HZ)
        self._waiting: list[Samples] = []
        """Frames of mono that follow each other."""
        self._waiting_from = 0
        """Time stamp of the first."""
        self._expected = 0
        """Of the frame behind the last."""
        self._soft_for = 0
        """Samples."""

    def attach(self, hear: Callable[[Block], bool]) -> None:
        """From now on it is heard; what came before had nobody to hear it."""
        self._hear = hear
        self._waiting.clear()

    async def listen(self, track: MediaStreamTrack) -> None:
        """Until the track ends."""
        from av import AudioFrame

        while True:
            try:
                frame: object = await track.recv()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            except MediaStreamError:
                self._pass_on()
                return
            if isinstance(frame, AudioFrame) and frame.pts is not None:
                self.heard(frame)

    def heard(self, frame: AudioFrame) -> None:
        """A frame of interleaved 16-bit samples at 48 kHz."""
        at = frame.pts or 0
        if at != self._expected:
            self._pass_on()
        if not self._waiting:
            self._waiting_from = at
        samples = _mono(frame)
        self._waiting.append(samples)
        self._expected = at + len(samples)
        soft = max(int(samples.max()), -int(samples.min())) < SOFT
        self._soft_for = self._soft_for + len(samples) if soft else 0
        if self._soft_for < LONG_SILENCE or len(self._waiting) >= TOGETHER:
            self._pass_on()

    def _pass_on(self) -> None:
        if not self._waiting:
            return
        samples = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
        self._waiting.clear()
        for each in self._concealment.push(from_int16(samples), self._waiting_from):
            if len(sound := self._resampler.push(each)):
                self._hear(sound)


def _mono(frame: AudioFrame) -> Samples:
    pcm = frame.to_ndarray().reshape(-1).astype(np.int16, copy=False)
    channels = len(frame.layout.channels)
    if channels == 1:
        return pcm
    if channels == 2:  # halved first: the sum of two would not fit
        return (pcm[::2] >> 1) + (pcm[1::2] >> 1)
    return pcm.reshape(-1, channels).mean(axis=1).astype(np.int16)


class WebRtcSound:
    """`CallSound` of one call."""

    def __init__(self) -> None:
        self.voice = VoiceOfClient()
        self.track = AnswerTrack()

    def attach(self, playback: ServerPlayback, hear: Callable[[Block], bool]) -> None:
        """See `CallSound`."""
        playback.on_sound = self.track.wake
        self.track.attach(playback)
        self.voice.attach(hear)


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
