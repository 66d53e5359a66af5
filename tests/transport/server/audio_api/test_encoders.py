"""Sound to bytes, as it is made."""

from __future__ import annotations

import io

import numpy as np
import pytest

from s2s.core.audio import Block, decode_sound
from s2s.transport.server.audio_api.encoders import (
    RATE_HZ,
    SPEECH_FORMATS,
    Resampled,
    encoder,
)


def sweep(seconds: float, rate_hz: int = RATE_HZ) -> Block:
    t = np.arange(int(seconds * rate_hz)) / rate_hz
    return (0.4 * np.sin(2 * np.pi * (200 + 150 * t) * t)).astype(np.float32)


def in_pieces(name: str, sound: Block, sizes: list[int]) -> list[bytes]:
    """What comes of each piece, and last of the end."""
    made = encoder(name)
    out: list[bytes] = []
    at = 0
    while at < len(sound):
        size = sizes[len(out) % len(sizes)]
        out.append(made.push(sound[at : at + size]))
        at += size
    return [*out, made.finish()]


@pytest.mark.parametrize("name", [name for name in SPEECH_FORMATS if name != "pcm"])
def test_what_is_sent_in_pieces_is_the_sound(name: str):
    sound = sweep(3.0)
    data = b"".join(in_pieces(name, sound, [1_000, 1, 7_777, 0, 240]))
    heard, rate_hz = decode_sound(io.BytesIO(data), name)
    assert rate_hz in (RATE_HZ, 48_000)  # Opus is always said to be 48 kHz
    assert len(heard) / rate_hz == pytest.approx(3.0, abs=0.12)
    loud = np.sqrt(np.mean(np.square(heard)))
    assert loud == pytest.approx(0.4 / np.sqrt(2), rel=0.08)  # MP3 ends with silence


def test_bare_samples_are_little_endian_without_a_header():
    data = b"".join(in_pieces("pcm", np.array([0.0, 0.5, -0.5, 2.0, -2.0], np.float32), [2]))
    assert np.frombuffer(data, "<i2").tolist() == [0, 16384, -16384, 32767, -32768]


def test_a_wav_begins_with_its_header_and_no_length():
    first, *_ = in_pieces("wav", sweep(0.1), [10])
    assert first[:4] == b"RIFF"
    assert first[4:8] == b"\xff\xff\xff\xff"
    assert len(first) == 44 + 20


@pytest.mark.parametrize("name", [name for name in SPEECH_FORMATS if name != "flac"])
def test_bytes_come_long_before_the_end(name: str):
    pieces = in_pieces(name, sweep(6.0), [RATE_HZ // 10])
    sent = np.cumsum([len(piece) for piece in pieces])
    assert sent[len(pieces) // 2] > 0.25 * sent[-1]


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000, 44_100])
def test_every_voice_is_sent_at_one_rate(rate_hz: int):
    out = Resampled(encoder("pcm"), rate_hz)
    sound = sweep(1.0, rate_hz)
    data = b"".join([*(out.push(sound[at : at + 700]) for at in range(0, len(sound), 700)),
                     out.finish()])  # fmt: skip
    heard = np.frombuffer(data, "<i2") / 32768
    assert len(heard) == pytest.approx(RATE_HZ, abs=2)
    assert out.samples == len(heard)
    inner = slice(2_000, 22_000)
    assert np.abs(heard[inner] - sweep(1.0)[: len(heard)][inner]).max() < 0.01
