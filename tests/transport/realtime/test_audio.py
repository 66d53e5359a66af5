"""Sound in the formats of the wire: exact, and the same whatever the size of the messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import PIPELINE_HZ, to_int16
from s2s.transport.realtime.audio import SoundFromBytes, SoundToBytes, sound_of, whole_sound
from s2s.transport.realtime.wire.audio_formats import PcmaFormat, PcmFormat, PcmuFormat

FORMATS = [
    PcmFormat(),
    PcmFormat(rate=16000),
    PcmFormat(rate=22050),
    PcmFormat(rate=48000),
    PcmFormat(rate=8000),
    PcmuFormat(),
    PcmaFormat(),
]


def rate_of(audio_format) -> int:
    return audio_format.rate if isinstance(audio_format, PcmFormat) else 8000


def tone(rate_hz: int, seconds: float = 0.5, hz: float = 440.0) -> np.ndarray:
    t = np.arange(int(rate_hz * seconds)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """`data` cut at `sizes`, again and again."""
    found, start, index = [], 0, 0
    while start < len(data):
        size = sizes[index % len(sizes)]
        found.append(data[start : start + size])
        start, index = start + size, index + 1
    return found


@given(st.sampled_from(FORMATS), st.lists(st.integers(1, 5000), min_size=1, max_size=8))
def test_a_tone_has_no_noise_at_the_joints_of_messages(audio_format, sizes):
    rate_hz = rate_of(audio_format)
    data = whole_sound(tone(rate_hz), rate_hz, audio_format)
    whole = sound_of(data, audio_format)
    from_bytes = SoundFromBytes(audio_format)
    joined = np.concatenate([from_bytes.push(piece) for piece in pieces(data, sizes)])
    np.testing.assert_array_equal(joined, whole[: len(joined)])
    assert len(joined) + len(from_bytes.flush()) == len(whole)
    middle = slice(1000, len(joined) - 1000)
    assert len(joined[middle]) > 4000
    off = np.max(np.abs(joined - tone(PIPELINE_HZ)[: len(joined)])[middle])
    assert off < (0.03 if rate_hz == 8000 else 0.001)  # G.711 has 8 bits


@given(st.sampled_from(FORMATS), st.lists(st.integers(1, 2000), min_size=1, max_size=8))
def test_what_is_played_does_not_depend_on_the_size_of_blocks(audio_format, sizes):
    sound = tone(24000, 0.3)
    whole = whole_sound(sound, 24000, audio_format)
    to_bytes = SoundToBytes(audio_format)
    joined, start, index = b"", 0, 0
    while start < len(sound):
        size = sizes[index % len(sizes)]
        joined += to_bytes.push(sound[start : start + size], 24000)
        start, index = start + size, index + 1
    assert joined + to_bytes.flush() == whole
    assert abs(to_bytes.duration_ms(len(whole)) - 300) < 1


def test_sound_at_its_own_rate_passes_untouched():
    sound = tone(22050)
    data = whole_sound(sound, 22050, PcmFormat(rate=22050))
    assert data == to_int16(sound).astype("<i2").tobytes()


def test_an_odd_byte_waits_for_its_other_half():
    data = to_int16(tone(16000, 0.01)).astype("<i2").tobytes()
    from_bytes = SoundFromBytes(PcmFormat(rate=16000))
    single = [from_bytes.push(bytes([byte])) for byte in data]
    assert np.concatenate(single).tobytes() == sound_of(data, PcmFormat(rate=16000)).tobytes()
    assert [len(block) for block in single[:4]] == [0, 1, 0, 1]
    from_bytes.push(b"\x01")
    from_bytes.reset()
    assert len(from_bytes.push(b"\x01")) == 0


def test_a_new_format_of_one_stream_begins_anew():
    to_bytes = SoundToBytes(PcmFormat())
    first = to_bytes.push(tone(22050), 22050)
    second = to_bytes.push(tone(24000), 24000) + to_bytes.flush()
    assert to_bytes.duration_ms(len(first + second)) == pytest.approx(1000, abs=1)
