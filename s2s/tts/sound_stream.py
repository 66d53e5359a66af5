"""The samples in the bytes of a speech server's answer, which is looked at before it is believed.

PCM and WAV are read as they arrive; MP3, Opus, Vorbis and FLAC once they are whole, by libsndfile;
a message, a web page or nothing at all is a failure, in the server's words.
See docs/decisions/speech-server-bytes.md.
"""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from s2s.core.audio import Block, from_int16
from s2s.system.remote import RemoteError, is_html, reported_error, unexpected

HEAD_BYTES = 16
"""Enough to tell what an answer is."""
MOST_WORDS_BYTES = 65_536
LONGEST_CHUNK_BYTES = 2**20
"""Of a WAV file, before its samples."""
LOWEST_HZ, HIGHEST_HZ = 4_000, 192_000
MOST_CHANNELS = 8

Kind = Literal["pcm", "wav", "coded", "words", "unreadable"]

_RATE = re.compile(r"rate\s*=\s*\"?(\d+)")
_CHANNELS = re.compile(r"channels\s*=\s*\"?(\d+)")
_PCM_TYPES = ("audio/pcm", "audio/l16", "audio/x-pcm", "audio/raw")
_WORD_TYPES = ("text/", "application/json", "application/problem+json", "application/xml")
_UNREADABLE_TYPES = (
    "audio/aac", "audio/mp4", "audio/webm", "audio/basic", "audio/pcmu", "audio/pcma",
    "audio/mulaw", "audio/alaw", "audio/x-mulaw", "audio/x-alaw", "audio/amr", "video/", "image/",
    "application/zip", "application/gzip", "application/pdf",
)  # fmt: skip
_UNREADABLE_STARTS = (
    b"\x1aE\xdf\xa3", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff",
    b"%PDF", b"#!AMR",
)  # fmt: skip
"""WebM, gzip, zip, pictures, PDF, AMR."""
_CODED_STARTS = (b"OggS", b"fLaC", b"ID3", b"FORM", b".snd", b"caff")
"""Of what libsndfile reads: Ogg, FLAC, MP3 with a title, AIFF, AU, CAF."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A piece of sound and its rate."""

    samples: Block
    """float32 [samples], never empty, within -1 to 1."""
    rate_hz: int


def read_sound(
    chunks: Iterable[bytes], *, url: str, content_type: str, pcm_hz: int
) -> Iterator[Sound]:
    """Yield the sound in an answer with status 200.

    Args:
        chunks: the bytes as they arrive.
        url: names the server in errors.
        content_type: as the server names it, in lower case; "" when it does not.
        pcm_hz: rate of PCM, where the content type does not say it.

    Raises:
        RemoteError: it is no sound, none that can be read, or empty.
    """
    stream = iter(chunks)
    head = b""
    for chunk in stream:
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    whole = chain([head], stream)
    sounds: Iterator[Sound]
    match kind_of(head, content_type):
        case "pcm":
            sounds = _read_pcm(whole, url, content_type, pcm_hz)
        case "wav":
            sounds = _read_wav(whole, url)
        case "coded":
            sounds = _read_coded(whole, url, content_type)
        case "words":
            raise _failure(whole, url)
        case "unreadable":
            raise RemoteError(
                f"{url} answered {content_type or 'a file'} (it begins with {head[:8]!r}), which "
                "cannot be decoded here. "
                "Set tts.openai.format to pcm, wav, mp3, opus or flac."
            )
    any_sound = False
    for sound in sounds:
        if len(sound.samples):
            any_sound = True
            yield sound
    if not any_sound:
        raise unexpected(url, b"", "sound")


def kind_of(head: bytes, content_type: str) -> Kind:
    """What an answer is that begins with `head`."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return "wav"
    if head.startswith(_CODED_STARTS):
        return "coded"
    if head[4:8] == b"ftyp" or head.startswith(_UNREADABLE_STARTS):
        return "unreadable"
    if _is_words(head, content_type):
        return "words"
    if content_type.startswith(_PCM_TYPES):
        return "pcm"
    if _is_mpeg_frame(head):
        return "coded"
    if content_type.startswith(_UNREADABLE_TYPES):
        return "unreadable"
    if content_type.startswith(("audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac")):
        return "coded"
    return "pcm"


def _is_words(head: bytes, content_type: str) -> bool:
    if is_html(head):
        return True
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if content_type.startswith(_WORD_TYPES):
        return not any(byte < 9 for byte in start)  # some servers call everything JSON
    printable = all(32 <= byte < 127 or byte in (9, 10, 13) for byte in start)
    return printable and start[:1] in (b"{", b"[", b"<", b'"') and len(start) > 1


def _is_mpeg_frame(head: bytes) -> bool:
    """Whether a header of MPEG audio (version, layer, rates) stands at the start."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bit_rate, rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer != 0 and bit_rate not in (0, 15) and rate != 3


def _read_pcm(chunks: Iterable[bytes], url: str, content_type: str, pcm_hz: int) -> Iterator[Sound]:
    rate, channels = _RATE.search(content_type), _CHANNELS.search(content_type)
    rate_hz = _checked_rate(url, int(rate[1]) if rate else pcm_hz)
    count = _checked_channels(url, int(channels[1]) if channels else 1)
    if "float" in content_type or "f32" in content_type:
        for data in _frames(chunks, 4 * count):
            yield Sound(_clean(_DECODERS[3, 32](data)[::count]), rate_hz)
        return
    for samples in pcm_blocks(chunks, count):
        yield Sound(samples, rate_hz)


def pcm_blocks(chunks: Iterable[bytes], channels: int = 1) -> Iterator[Block]:
    """Little-endian 16-bit PCM in chunks of any size as float32 [samples]; none is empty.

    Of several channels the first. What is left over at the end is no sample and is dropped.
    """
    for data in _frames(chunks, 2 * channels):
        yield from_int16(np.frombuffer(data, dtype="<i2")[::channels].astype(np.int16))


def _frames(chunks: Iterable[bytes], frame: int) -> Iterator[bytes]:
    """Bytes in whole frames of `frame` bytes, never none."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        whole = len(data) - len(data) % frame
        rest = data[whole:]
        if whole:
            yield data[:whole]


def _read_coded(chunks: Iterable[bytes], url: str, content_type: str) -> Iterator[Sound]:
    import soundfile

    body = b"".join(chunks)
    try:
        samples, rate_hz = soundfile.read(io.BytesIO(body), dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError, ValueError) as error:
        raise RemoteError(
            f"{url} answered {len(body)} bytes of {content_type or 'sound'} that cannot be decoded "
            f"({error}). Set tts.openai.format to pcm or wav."
        ) from error
    first = np.asarray(samples[:, 0], dtype=np.float32)
    yield Sound(_clean(first), _checked_rate(url, int(rate_hz)))


def _failure(chunks: Iterable[bytes], url: str) -> RemoteError:
    """The error for an answer in words."""
    body = b""
    for chunk in chunks:
        body += chunk
        if len(body) > MOST_WORDS_BYTES:
            break
    try:
        words = reported_error(json.loads(body.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        words = None
    if words is not None:
        return RemoteError(f"{url} failed: {words}", words=words)
    return unexpected(url, body, "sound")


def _read_wav(chunks: Iterable[bytes], url: str) -> Iterator[Sound]:
    reader = _Wav(url)
    for chunk in chunks:
        yield from reader.push(chunk)
    if not reader.began:
        raise RemoteError(f"{url} answered a WAV file without sound: its header is cut.")


class _Wav:
    """Reads WAV as it arrives; sizes of a stream, 0 or very large, mean "to the end"."""

    def __init__(self, url: str) -> None:
        self.began = False
        """The samples have begun."""
        self._url = url
        self._data: bytes = b""
        self._left: int | None = None
        """Bytes of samples still to come; None before they begin."""
        self._rate_hz = 0
        self._channels = 0
        self._decode: Callable[[bytes], Block] | None = None
        self._frame = 0

    def push(self, chunk: bytes) -> Iterator[Sound]:
        """Add bytes and yield the whole frames in them."""
        self._data += chunk
        while True:
            if self._left is None and not self._read_chunk():
                return
            if self._left is None:
                continue
            whole = min(self._left, len(self._data))
            whole -= whole % self._frame
            taken, self._data = self._data[:whole], self._data[whole:]
            self._left -= whole
            if taken and self._decode is not None:
                yield Sound(_clean(self._decode(taken)[:: self._channels]), self._rate_hz)
            if self._left >= self._frame:
                return
            self._data, self._left = self._data[self._left :], None
            if self._data[:4] not in (b"", b"RIFF"[: len(self._data)]):
                self._data = b""  # notes behind the samples; only another file counts

    def _read_chunk(self) -> bool:
        """Read one chunk before the samples; False when it is not whole yet."""
        data = self._data
        if data[:4] in (b"RIFF", b"RF64"):
            if len(data) < 12:
                return False
            self._data = data[12:]
            return True
        if len(data) < 8:
            return False
        name, size = data[:4], struct.unpack_from("<I", data, 4)[0]
        if name == b"data":
            if self._decode is None:
                raise RemoteError(f"{self._url} answered a WAV file without a format.")
            self._data = data[8:]
            self._left = size if 0 < size < 0x7FFF_0000 else 2**62
            self.began = True
            return True
        if size > LONGEST_CHUNK_BYTES:
            raise RemoteError(f"{self._url} answered a WAV file that is damaged at {name!r}.")
        if len(data) < 8 + size + size % 2:
            return False
        if name == b"fmt ":
            self._read_format(data[8 : 8 + size])
        self._data = data[8 + size + size % 2 :]
        return True

    def _read_format(self, body: bytes) -> None:
        if len(body) < 16:
            raise RemoteError(f"{self._url} answered a WAV file whose format is cut.")
        code, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", body)
        if code == 0xFFFE and len(body) >= 26:
            code = struct.unpack_from("<H", body, 24)[0]
        decode = _DECODERS.get((code, bits))
        if decode is None:
            raise RemoteError(
                f"{self._url} answered WAV of kind {code} with {bits} bits, which is not known. "
                "Set tts.openai.format to pcm."
            )
        self._rate_hz = _checked_rate(self._url, rate_hz)
        self._channels = _checked_channels(self._url, channels)
        self._decode, self._frame = decode, channels * bits // 8


def _int24(data: bytes) -> Block:
    parts = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3).astype(np.int32)
    values = (parts[:, 0] | parts[:, 1] << 8 | parts[:, 2] << 16) << 8
    return (values / 2**31).astype(np.float32)


def _scaled(kind: str, scale: float, offset: float = 0.0) -> Callable[[bytes], Block]:
    """Reads numbers of a numpy type as float32 [numbers / scale - offset]."""

    def read(data: bytes) -> Block:
        numbers = np.frombuffer(data, dtype=kind).astype(np.float64)
        return (numbers / scale - offset).astype(np.float32)

    return read


_DECODERS: dict[tuple[int, int], Callable[[bytes], Block]] = {
    (1, 8): _scaled("u1", 128.0, 1.0),
    (1, 16): _scaled("<i2", 2.0**15),
    (1, 24): _int24,
    (1, 32): _scaled("<i4", 2.0**31),
    (3, 32): _scaled("<f4", 1.0),
    (3, 64): _scaled("<f8", 1.0),
}
"""By the format's code (1 integers, 3 floats) and bits."""


def _clean(samples: Block) -> Block:
    return np.clip(np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)


def _checked_rate(url: str, rate_hz: int) -> int:
    if not LOWEST_HZ <= rate_hz <= HIGHEST_HZ:
        raise RemoteError(f"{url} answered sound at {rate_hz} Hz, which cannot be.")
    return rate_hz


def _checked_channels(url: str, channels: int) -> int:
    if not 1 <= channels <= MOST_CHANNELS:
        raise RemoteError(f"{url} answered sound of {channels} channels, which cannot be.")
    return channels
