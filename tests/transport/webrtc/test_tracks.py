"""Sound on its way through aiortc: packets in time, Opus there and back, gaps and rates."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import AudioCodecContext, AudioFrame, Packet

from s2s.core.audio import Block, from_int16, to_int16
from s2s.testing.simulator import tone
from s2s.transport.realtime.server_playback import CALL_HZ, FRAME_SAMPLES, ServerPlayback
from s2s.transport.webrtc.tracks import (
    SILENT_EVERY,
    SILENT_PACKET,
    TAIL_FRAMES,
    AnswerTrack,
    OpusVoice,
    VoiceOfClient,
    WebRtcSound,
)


def hum(frames: int) -> Block:
    at = np.arange(frames * FRAME_SAMPLES) / CALL_HZ
    return (0.5 * np.sin(2 * np.pi * 300 * at)).astype(np.float32)


def decoded(packets: Sequence[bytes]) -> Block:
    codec = AudioCodecContext.create("libopus", "r")
    codec.format, codec.layout, codec.sample_rate = "s16", "mono", CALL_HZ
    frames = [frame for data in packets for frame in codec.decode(Packet(data))]  # pyright: ignore
    pcm = [frame.to_ndarray().reshape(-1).astype(np.int16) for frame in frames]
    return from_int16(np.concatenate(pcm))


def test_a_voice_is_opus_and_silence_costs_no_encoding() -> None:
    voice = OpusVoice()
    assert voice.packet(None) == SILENT_PACKET
    sound = hum(20)
    said = [
        voice.packet(sound[at : at + FRAME_SAMPLES]) for at in range(0, len(sound), FRAME_SAMPLES)
    ]
    tail = [voice.packet(None) for _ in range(TAIL_FRAMES + 2)]
    assert tail[-1] == tail[-2] == SILENT_PACKET
    assert SILENT_PACKET not in tail[:TAIL_FRAMES]
    heard = decoded([*said, *tail])
    assert len(heard) >= (20 + TAIL_FRAMES) * FRAME_SAMPLES
    assert float(np.abs(heard[: 20 * FRAME_SAMPLES]).max()) == pytest.approx(0.5, abs=0.1)
    assert float(np.abs(heard[-FRAME_SAMPLES:]).max()) < 0.01
    assert float(np.abs(decoded([SILENT_PACKET] * 5)).max()) == 0.0


def test_packets_leave_each_20_ms_with_their_time_and_few_in_silence() -> None:
    frames = iter([None, None, *[hum(1)] * 3])

    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        track = AnswerTrack(lambda: next(frames, None))
        began_s = loop.time()
        packets = [await track.recv() for _ in range(11)]
        assert loop.time() - began_s >= 2 * SILENT_EVERY * 0.02 - 0.001
        track.stop()
        with pytest.raises(MediaStreamError):
            await track.recv()
        return [packet.pts or 0 for packet in packets]

    said = range(2, 5 + TAIL_FRAMES)
    silent = (SILENT_EVERY, 2 * SILENT_EVERY)
    assert asyncio.run(main()) == [number * FRAME_SAMPLES for number in (0, *said, *silent)]


def test_who_was_held_up_sends_nothing_in_a_heap() -> None:
    class Late(asyncio.SelectorEventLoop):
        """A loop whose clock jumps."""

        ahead_s = 0.0

        def time(self) -> float:
            return super().time() + self.ahead_s

    async def main(loop: Late) -> float:
        track = AnswerTrack(lambda: hum(1))
        await track.recv()
        loop.ahead_s += 10.0
        await track.recv()
        began_s = loop.time()
        for _ in range(3):
            await track.recv()
        return loop.time() - began_s

    loop = Late()
    try:
        assert loop.run_until_complete(main(loop)) >= 3 * 0.02 - 0.001
    finally:
        loop.close()


class Frames(MediaStreamTrack):
    """A track of some frames of stereo."""

    kind = "audio"

    def __init__(self, frames: list[tuple[int, Block]]) -> None:
        super().__init__()
        self._frames = frames

    async def recv(self) -> AudioFrame:
        if not self._frames:
            raise MediaStreamError
        number, block = self._frames.pop(0)
        both = np.repeat(to_int16(block), 2).reshape(1, -1)
        frame = AudioFrame.from_ndarray(both, "s16", "stereo")
        frame.pts, frame.sample_rate = number * FRAME_SAMPLES, CALL_HZ
        return frame


def test_what_the_client_says_is_heard_at_16_khz_without_its_gaps() -> None:
    heard: list[Block] = []

    def hear(sound: Block) -> bool:
        heard.append(sound)
        return True

    voice = VoiceOfClient()
    sound = hum(50)
    numbers = [n for n in range(50) if n % 7 != 3]
    frames = [(n, sound[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES]) for n in numbers]
    asyncio.run(voice.listen(Frames(frames[:5])))  # nobody is there
    voice.attach(hear)
    asyncio.run(voice.listen(Frames(frames[5:])))
    joined = np.concatenate(heard)
    expected = (50 - frames[5][0]) * FRAME_SAMPLES // 3
    assert abs(len(joined) - expected) < 400
    inner = np.abs(joined[1_000:-1_000])
    level = inner[: len(inner) // 100 * 100].reshape(-1, 100).max(axis=1)
    assert float(level.min()) > 0.25


def test_a_call_is_silent_until_its_session_is_there() -> None:
    sound = WebRtcSound()

    async def main() -> tuple[bytes, bytes]:
        before = bytes(await sound.track.recv())
        assert sound.track.readyState == "live"
        playback = ServerPlayback(16_000, lambda _: None, lambda _: None)
        sound.attach(playback, lambda _: True)
        playback.play("a", tone(0.1))
        return before, bytes(await sound.track.recv())

    before, after = asyncio.run(main())
    assert before == SILENT_PACKET
    assert after != SILENT_PACKET
