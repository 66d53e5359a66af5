"""The sound of a call on its way through aiortc: what the client is to hear, paced and as Opus, and
what it says.
"""

from __future__ import annotations

import asyncio
import fractions
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from s2s.core.audio import PIPELINE_HZ, Block, Resampler, to_int16
from s2s.transport.realtime.server_playback import CALL_HZ, FRAME_SAMPLES, ServerPlayback
from s2s.transport.webrtc.concealment import Concealment

if TYPE_CHECKING:
    from av import AudioFrame, Packet
    from av.stream import Stream

FRAME_S = 0.02
BIT_RATE = 32_000
"""Of one voice; transparent for speech."""
COMPLEXITY = "2"
"""Of the encoder, 0 to 10: half the work of 5, and with so many bits no difference for a voice."""
SILENT_PACKET = b"\xf8"
"""A frame without data: the decoder makes silence of it until the next packet comes (RFC 6716,
section 2.1.9, discontinuous transmission)."""
SILENT_EVERY = 20
"""Such a packet leaves every so many frames, as encoders do it that are told to save them."""
TAIL_FRAMES = 5
"""Silent ones that are encoded behind a sound, so that it ends softly."""
LATE_S = 0.2
"""Who was held up for longer goes on from now, and sends nothing in a heap."""
_TIME_BASE = fractions.Fraction(1, CALL_HZ)


class OpusVoice:
    """One stream of speech as packets of Opus, 20 ms each."""

    def __init__(self) -> None:
        from av import AudioCodecContext

        codec = AudioCodecContext.create("libopus", "w")
        codec.bit_rate = BIT_RATE
        codec.format = "s16"
        codec.layout = "mono"
        codec.sample_rate = CALL_HZ
        codec.options = {"application": "voip", "compression_level": COMPLEXITY}
        codec.time_base = _TIME_BASE
        self._codec = codec
        self._silent_for = TAIL_FRAMES
        self._pts = 0

    def packet(self, frame: Block | None) -> bytes:
        """Float32 [960] at 48 kHz, or None for silence, as a packet."""
        from av import AudioFrame

        self._silent_for = 0 if frame is not None else self._silent_for + 1
        if self._silent_for > TAIL_FRAMES:
            return SILENT_PACKET
        samples = to_int16(np.zeros(FRAME_SAMPLES, np.float32) if frame is None else frame)
        sound = AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        sound.sample_rate = CALL_HZ
        sound.pts = self._pts
        sound.time_base = _TIME_BASE
        self._pts += FRAME_SAMPLES
        # The package's types leave open of which stream packets are.
        packets = self._codec.encode(sound)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return bytes(packets[0]) if packets else SILENT_PACKET  # pyright: ignore[reportUnknownArgumentType]


class AnswerTrack(MediaStreamTrack):
    """What the client hears: a packet each 20 ms while there is sound, few in silence.

    Args:
        frame: the next 20 ms, asked for when they leave.
    """

    kind = "audio"

    def __init__(self, frame: Callable[[], Block | None]) -> None:
        super().__init__()
        self._frame = frame
        self._voice = OpusVoice()
        self._number = 0
        self._start_s: float | None = None

    async def recv(self) -> Packet[Stream]:
        """The next packet, when it is its time."""
        from av import Packet

        if self.readyState != "live":
            raise MediaStreamError
        while True:
            await self._until_due()
            data = self._voice.packet(self._frame())
            number, self._number = self._number, self._number + 1
            if data is not SILENT_PACKET or number % SILENT_EVERY == 0:
                break
        packet = Packet(data)
        packet.pts = number * FRAME_SAMPLES
        packet.time_base = _TIME_BASE
        return packet

    async def _until_due(self) -> None:
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        if self._start_s is None:
            self._start_s = now_s
        due_s = self._start_s + self._number * FRAME_S
        if now_s - due_s > LATE_S:
            self._start_s += now_s - due_s
        elif due_s > now_s:
            due = loop.create_future()
            timer = loop.call_at(due_s, _done, due)
            try:
                await due
            finally:
                timer.cancel()


class VoiceOfClient:
    """What the client says, from packets that came late, in another order, or not at all."""

    def __init__(self) -> None:
        self._hear: Callable[[Block], bool] = lambda _sound: False
        self._concealment = Concealment(CALL_HZ)
        self._resampler = Resampler(CALL_HZ, PIPELINE_HZ)

    def attach(self, hear: Callable[[Block], bool]) -> None:
        """From now on it is heard; what came before had nobody to hear it."""
        self._hear = hear

    async def listen(self, track: MediaStreamTrack) -> None:
        """Until the track ends."""
        from av import AudioFrame

        while True:
            try:
                frame: object = await track.recv()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            except MediaStreamError:
                return
            if isinstance(frame, AudioFrame) and frame.pts is not None:
                self.heard(frame)

    def heard(self, frame: AudioFrame) -> None:
        """A frame of interleaved 16-bit samples at 48 kHz."""
        channels = len(frame.layout.channels)
        samples = frame.to_ndarray().reshape(-1, channels).astype(np.float32)
        block = samples.mean(axis=1, dtype=np.float32) / np.float32(32_768)
        for each in self._concealment.push(block, frame.pts or 0):
            if len(sound := self._resampler.push(each)):
                self._hear(sound)


class WebRtcSound:
    """`CallSound` of one call."""

    def __init__(self) -> None:
        self._playback: ServerPlayback | None = None
        self.voice = VoiceOfClient()
        self.track = AnswerTrack(self._frame)

    def attach(self, playback: ServerPlayback, hear: Callable[[Block], bool]) -> None:
        """See `CallSound`."""
        self._playback = playback
        self.voice.attach(hear)

    def _frame(self) -> Block | None:
        return None if self._playback is None else self._playback.frame()


def _done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
