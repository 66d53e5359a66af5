"""The bytes of a speech server, looked at before they are played; at every split."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from s2s.system.remote import RemoteError
from s2s.tts.sound_stream import Sound, kind_of, read_sound

HZ = 24_000
TONE = (0.5 * np.sin(np.arange(int(0.4 * HZ)) / 9)).astype(np.float32)


def coded(container: str, subtype: str | None = None, channels: int = 1) -> bytes:
    out = io.BytesIO()
    samples = TONE if channels == 1 else np.stack([TONE] + [0 * TONE] * (channels - 1), axis=1)
    soundfile.write(out, samples, HZ, format=container, subtype=subtype)
    return out.getvalue()


def pcm() -> bytes:
    return (TONE * 32_767).astype("<i2").tobytes()


def wav(size: int | None = None, before: bytes = b"", after: bytes = b"") -> bytes:
    """16-bit WAV whose header gives `size` as the length of its samples."""
    data = pcm()
    size = len(data) if size is None else size
    head = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, HZ, 2 * HZ, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", size)
        + b"WAVE"
        + head
        + before
        + (b"data" + struct.pack("<I", size) + data + after)
    )


NOTES = b"LIST" + struct.pack("<I", 4) + b"INFO"

SOUNDS: dict[str, tuple[bytes, str, float]] = {
    "pcm": (pcm(), "audio/pcm", 1e-4),
    "pcm, no type": (pcm(), "", 1e-4),
    "pcm, bytes": (pcm(), "application/octet-stream", 1e-4),
    "pcm called json": (b"\0\0" + pcm(), "application/json", 1e-4),
    "pcm with a rate": (pcm(), "audio/pcm;rate=24000;channels=1", 1e-4),
    "pcm of floats": (TONE.astype("<f4").tobytes(), "audio/pcm;encoding=float;rate=24000", 1e-6),
    "wav": (wav(), "audio/wav", 1e-4),
    "wav called pcm": (wav(), "audio/pcm", 1e-4),
    "wav called mpeg": (wav(), "audio/mpeg", 1e-4),
    "wav of a stream": (wav(0xFFFF_FFFF), "audio/wav", 1e-4),
    "wav of a stream, 0": (wav(0), "audio/wav", 1e-4),
    "wav of a stream, large": (wav(0x7FFF_FFFF), "audio/wav", 1e-4),
    "wav with notes": (wav(before=NOTES, after=NOTES), "audio/wav", 1e-4),
    "wav, 8 bits": (coded("WAV", "PCM_U8"), "audio/wav", 1e-2),
    "wav, 24 bits": (coded("WAV", "PCM_24"), "audio/wav", 1e-6),
    "wav, 32 bits": (coded("WAV", "PCM_32"), "audio/wav", 1e-6),
    "wav, floats": (coded("WAV", "FLOAT"), "audio/wav", 1e-6),
    "wav, doubles": (coded("WAV", "DOUBLE"), "audio/wav", 1e-6),
    "wav, extensible": (coded("WAVEX", "PCM_16"), "audio/wav", 1e-4),
    "wav, stereo": (coded("WAV", "PCM_16", channels=2), "audio/wav", 1e-4),
    "flac": (coded("FLAC"), "audio/flac", 1e-4),
    "flac called pcm": (coded("FLAC"), "audio/pcm", 1e-4),
    "vorbis": (coded("OGG", "VORBIS"), "audio/ogg", 0.1),
    "opus": (coded("OGG", "OPUS"), "audio/opus", 0.1),
    "aiff": (coded("AIFF", "PCM_16"), "audio/aiff", 1e-4),
    "au": (coded("AU", "PCM_16"), "audio/au", 1e-4),
    "caf": (coded("CAF", "PCM_16"), "", 1e-4),
    "mp3": (coded("MP3"), "audio/mpeg", 0.1),
    "mp3, no type": (coded("MP3"), "", 0.1),
}

FAILURES: dict[str, tuple[bytes, str, str]] = {
    "json": (b'{"error": {"message": "no such voice"}}', "application/json", "no such voice"),
    "json called pcm": (b'{"error": {"message": "no such voice"}}', "audio/pcm", "no such voice"),
    "json, spaced": (b'\n  {\n "detail": "no such voice"}', "audio/wav", "no such voice"),
    "json, bom": (b'\xef\xbb\xbf{"message": "no such voice"}', "", "no such voice"),
    "json, odd": (b'{"audio": "UklGRg=="}', "application/json", "where sound was due"),
    "html": (b"<!DOCTYPE html><html><title>Welcome</title></html>", "text/html", "Welcome"),
    "html called pcm": (b"<html><title>Welcome</title></html>", "audio/pcm", "Welcome"),
    "text": (b"no such voice", "text/plain", "no such voice"),
    "events": (b'data: {"type": "x"}\n\n', "text/event-stream", "where sound was due"),
    "nothing": (b"", "audio/pcm", "nothing where sound was due"),
    "nothing, json": (b"", "application/json", "nothing where sound was due"),
    "half a sample": (b"\1", "audio/pcm", "nothing where sound was due"),
    "header alone": (wav()[:44], "audio/wav", "nothing where sound was due"),
    "cut header": (wav()[:30], "audio/wav", "header is cut"),
    "no format": (b"RIFF\0\0\0\0WAVEdata\4\0\0\0abcd", "audio/wav", "without a format"),
    "kind of wav": (coded("WAV", "MS_ADPCM"), "audio/wav", "kind 2"),
    "damaged wav": (wav()[:12] + b"xxxx\xff\xff\xff\x7f" + 99 * b"x", "audio/wav", "damaged"),
    "rate of wav": (wav().replace(struct.pack("<I", HZ), struct.pack("<I", 7), 1), "", "7 Hz"),
    "cut mp3": (coded("MP3")[:20], "audio/mpeg", "cannot be decoded|nothing where sound"),
    "no mp3": (b"ID3" + 99 * b"x", "audio/mpeg", "cannot be decoded"),
    "aac": (b"\xff\xf1\x50\x80" + 99 * b"x", "audio/aac", "cannot be decoded here"),
    "mp4": (b"\0\0\0\x20ftypM4A " + 99 * b"x", "audio/mp4", "cannot be decoded here"),
    "mu-law": (99 * b"\x7f", "audio/basic", "cannot be decoded here"),
    "gzip": (b"\x1f\x8b\x08" + 99 * b"x", "audio/pcm", "cannot be decoded here"),
    "picture": (b"\x89PNG\r\n\x1a\n" + 99 * b"x", "", "cannot be decoded here"),
    "webm": (b"\x1aE\xdf\xa3" + 99 * b"x", "audio/webm", "cannot be decoded here"),
}  # fmt: skip


def read(*chunks: bytes, kind: str) -> tuple[np.ndarray, set[int]]:
    sounds: list[Sound] = list(read_sound(chunks, url="http://here", content_type=kind, pcm_hz=HZ))
    assert all(len(sound.samples) for sound in sounds)
    return np.concatenate([s.samples for s in sounds]), {s.rate_hz for s in sounds}


@pytest.mark.parametrize("name", SOUNDS)
def test_every_kind_of_sound_is_heard(name: str) -> None:
    """V01 and its kind: the tone of 0.4 s, whatever it is wrapped in."""
    data, kind, tolerance = SOUNDS[name]
    samples, rates = read(data, kind=kind)
    if "opus" in name:
        assert rates in ({HZ}, {48_000})
        assert 0.35 < len(samples) / rates.pop() < 0.5
        return
    assert rates == {HZ}
    if tolerance < 0.1:
        skip = len(samples) - len(TONE)
        assert 0 <= skip <= 1
        assert np.abs(samples[skip:] - TONE).max() < tolerance
    else:
        assert abs(len(samples) - len(TONE)) < 0.1 * HZ
        assert 0.4 < np.abs(samples).max() < 0.6


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_no_sound_is_a_failure_in_words(name: str) -> None:
    """V03 to V05 and their kind: nothing of it is played."""
    data, kind, words = FAILURES[name]
    for chunks in ([data], [data[:5], data[5:]], [data[i : i + 1] for i in range(len(data))]):
        with pytest.raises(RemoteError, match=words):
            read(*chunks, kind=kind)


@pytest.mark.parametrize("name", [name for name in SOUNDS if name.startswith(("pcm", "wav"))])
def test_any_split_gives_the_same_sound(name: str) -> None:
    data, kind, _ = SOUNDS[name]
    whole, _ = read(data, kind=kind)
    for size in (1, 3, 7, 1001):
        cut = [data[at : at + size] for at in range(0, min(len(data), 200 * size), size)]
        got, _ = read(*cut, data[200 * size :], kind=kind)
        assert np.array_equal(got, whole)


@pytest.mark.parametrize("name", ["pcm", "wav", "wav of a stream"])
def test_sound_is_heard_before_it_is_whole(name: str) -> None:
    data, kind, _ = SOUNDS[name]
    taken: list[int] = []

    def chunks():
        for number, at in enumerate(range(0, len(data), 1000)):
            taken.append(number)
            yield data[at : at + 1000]

    sounds = read_sound(chunks(), url="http://here", content_type=kind, pcm_hz=HZ)
    assert len(next(sounds).samples)
    assert len(taken) == 1


def test_a_wav_for_each_sentence_is_one_sound() -> None:
    samples, _ = read(wav() + wav(), kind="audio/wav")
    assert len(samples) == 2 * len(TONE)


def test_of_several_channels_the_first_is_heard() -> None:
    stereo = np.stack([TONE, -TONE], axis=1)
    data = (stereo * 32_767).astype("<i2").tobytes()
    samples, _ = read(data, kind="audio/l16; rate=24000; channels=2")
    assert np.abs(samples - TONE).max() < 1e-4


@given(
    st.binary(min_size=1, max_size=64), st.sampled_from(["", "audio/pcm", "audio/wav", "text/x"])
)
def test_no_bytes_raise_anything_else_or_leave_the_range(data: bytes, kind: str) -> None:
    for start in (b"", b"RIFF\0\0\0\0WAVE", b"ID3", wav()[:40]):
        try:
            samples, _ = read(start + data, kind=kind)
        except RemoteError:
            continue
        assert np.all(np.isfinite(samples))
        assert np.abs(samples).max() <= 1.0


@given(st.lists(st.integers(-2, 2), min_size=8, max_size=8))
def test_quiet_pcm_is_not_taken_for_anything_else(values: list[int]) -> None:
    assert kind_of(np.array(values, dtype="<i2").tobytes(), "") == "pcm"
