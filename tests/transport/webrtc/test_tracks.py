"""Sound on its way through aiortc: packets in time, Opus there and back, gaps and rates."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import AudioCodecContext, AudioFrame, Packet

from s2s.core.audio import Block, from_int16, resample, to_int16
from s2s.testing.simulator import tone
from s2s.transport.realtime.server_playback import (
    CALL_HZ,
    FRAME_SAMPLES,
    OPUS_HZ,
    ServerPlayback,
)
from s2s.transport.webrtc import tracks
from s2s.transport.webrtc.tracks import (
    LONG_SILENCE,
    PACKET_SAMPLES,
    SILENT_EVERY,
    SILENT_PACKET,
    TAIL_PACKETS,
    TOGETHER,
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


@pytest.mark.parametrize("rate_hz", OPUS_HZ)
def test_a_voice_of_any_rate_of_opus_is_heard(rate_hz: int) -> None:
    voice = OpusVoice(rate_hz)
    each = voice.packet_samples
    assert each == rate_hz // 25
    sound = resample(hum(20), CALL_HZ, rate_hz)[: 10 * each]
    said = [voice.packet(sound[at : at + each]) for at in range(0, len(sound), each)]
    tail = [voice.packet(np.zeros(each, np.float32)) for _ in range(TAIL_PACKETS)]
    heard = decoded([*said, *tail, SILENT_PACKET])
    assert len(heard) >= (10 + TAIL_PACKETS) * PACKET_SAMPLES
    inner = heard[2 * PACKET_SAMPLES : 9 * PACKET_SAMPLES]
    assert float(np.abs(inner).max()) == pytest.approx(0.5, abs=0.1)
    assert float(np.abs(heard[-FRAME_SAMPLES:]).max()) < 0.01
    assert float(np.abs(decoded([SILENT_PACKET] * 5)).max()) == 0.0


class Source:
    """Frames that leave one after another; None: it is being made."""

    def __init__(self, frames: Sequence[Block | None]) -> None:
        self.frames = list(frames)

    @property
    def playing(self) -> bool:
        return bool(self.frames)

    def frame(self) -> Block | None:
        return self.frames.pop(0) if self.frames else None


def test_packets_leave_each_40_ms_with_their_time_and_few_in_silence() -> None:
    source = Source([None, None, *[hum(1)] * 6])

    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        track = AnswerTrack()
        track.attach(source)
        began_s = loop.time()
        times = [(await track.recv()).pts or 0 for _ in range(9)]
        silent_s = 2 * SILENT_EVERY / CALL_HZ
        assert loop.time() - began_s >= 7 * 0.04 + silent_s - 0.001
        track.stop()
        with pytest.raises(MediaStreamError):
            await track.recv()
        return [sample / PACKET_SAMPLES for sample in times]

    # silence until it is made, three packets of sound, and their tail
    said = range(2, 5 + TAIL_PACKETS)
    each = SILENT_EVERY // PACKET_SAMPLES
    silent = (said[-1] + each, said[-1] + 2 * each)
    assert asyncio.run(main()) == [0, *said, *silent]


def test_what_comes_in_silence_leaves_at_once() -> None:
    """And its time is that of the clock: silence takes the time that it takes."""

    class Stepped(asyncio.SelectorEventLoop):
        """A loop whose clock stands still but for what is told."""

        now_s = 100.0

        def time(self) -> float:
            return self.now_s

    async def main(loop: Stepped) -> None:
        source = Source([])
        track = AnswerTrack()
        track.attach(source)
        assert bytes(await track.recv()) == SILENT_PACKET
        waiting = asyncio.ensure_future(track.recv())
        loop.now_s += 0.1
        await asyncio.sleep(0)  # the track looks, and rests
        await asyncio.sleep(0)
        loop.now_s += 0.033
        source.frames += [hum(1)] * 2
        track.wake()
        packet = await waiting
        assert bytes(packet) != SILENT_PACKET
        assert packet.pts == round(0.133 * CALL_HZ)

    loop = Stepped()
    try:
        loop.run_until_complete(main(loop))
    finally:
        loop.close()


def test_who_was_held_up_sends_nothing_in_a_heap() -> None:
    class Late(asyncio.SelectorEventLoop):
        """A loop whose clock jumps."""

        ahead_s = 0.0

        def time(self) -> float:
            return super().time() + self.ahead_s

    async def main(loop: Late) -> float:
        track = AnswerTrack()
        track.attach(Source([hum(1)] * 20))
        await track.recv()
        loop.ahead_s += 10.0
        await track.recv()
        began_s = loop.time()
        for _ in range(3):
            await track.recv()
        return loop.time() - began_s

    loop = Late()
    try:
        assert loop.run_until_complete(main(loop)) >= 3 * 0.04 - 0.001
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


def test_a_long_silence_is_heard_some_frames_at_a_time_and_a_word_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracks, "PIPELINE_HZ", CALL_HZ)  # a filter gives in pieces of its own
    came: list[int] = []

    def hear(sound: Block) -> bool:
        came.append(len(sound))
        return True

    voice = VoiceOfClient()
    voice.attach(hear)

    def at_once(number: int, level: float) -> bool:
        """Whether something was heard when that frame came."""
        before = len(came)
        frames = Frames([(number, level * hum(1))])
        voice.heard(asyncio.run(frames.recv()))
        return len(came) > before

    still = LONG_SILENCE // FRAME_SAMPLES
    heard = [at_once(number, 0.001) for number in range(still + 4 * TOGETHER)]
    assert all(heard[: still - 1]), "a pause is heard as it comes"
    late = heard[still - 1 :]
    assert [number for number, each in enumerate(late) if each] == [4, 9, 14, 19]
    number = len(heard)
    assert [at_once(number + n, level) for n, level in enumerate((0.001, 1.0, 1.0))] == [
        False,
        True,
        True,
    ]
    assert sum(came) == (number + 3) * FRAME_SAMPLES


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
