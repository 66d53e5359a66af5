"""Speech over vLLM-Omni's WebSocket, `/audio/speech/stream`: PCM as it is made.

A socket speaks one text after the other. The server does not read it while it speaks, so it is
silenced by hanging up; the next text opens another. The messages: docs/codec-stream.md.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from s2s.core.audio import from_int16
from s2s.core.clock import SystemClock
from s2s.system.remote import (
    RemoteError,
    ServerWebSocket,
    Waits,
    reported_error,
    socket_address,
    stalled,
)
from s2s.tts.sound_stream import HIGHEST_HZ, LOWEST_HZ, Sound

PATH = "/audio/speech/stream"
MOST_IDLE = 4
"""Sockets that are kept for the next text."""


class _Message(BaseModel):
    """Unknown fields are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class SocketAudioStart(_Message):
    """A piece of a text begins."""

    type: Literal["audio.start"]
    format: str = "pcm"
    sample_rate: Annotated[int, Field(ge=LOWEST_HZ, le=HIGHEST_HZ)] | None = None
    channels: Annotated[int, Field(ge=1, le=1)] | None = None


class SocketAudioDone(_Message):
    """It has ended."""

    type: Literal["audio.done"]
    total_bytes: Annotated[int, Field(ge=0)] | None = None
    error: str | bool | None = None


class SocketDone(_Message):
    """All of the text was spoken."""

    type: Literal["session.done"]


class SocketError(_Message):
    """It cannot be spoken, or not to its end."""

    type: Literal["error"]
    message: str | None = None
    partial_audio: bool | None = None
    action: str | None = None


Said = SocketAudioStart | SocketAudioDone | SocketDone | SocketError

_messages: TypeAdapter[Said] = TypeAdapter(Annotated[Said, Field(discriminator="type")])


@dataclass(slots=True)
class _Piece:
    """What has come of a piece of the text."""

    rate_hz: int
    rest: bytes = b""
    """Half a sample."""
    nbytes: int = 0


class SpeechSockets:
    """Sockets to one server. Safe from any thread.

    Args:
        base_url: of the API, up to and with its version.
        headers: sent with the request for a socket.
        pcm_hz: rate of the sound where the server does not say it.

    Raises:
        RemoteError: it is no address.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], pcm_hz: int) -> None:
        self.url = socket_address(base_url.rstrip("/") + PATH, "")
        self._headers = dict(headers)
        self._pcm_hz = pcm_hz
        self._lock = threading.Lock()
        self._idle: list[ServerWebSocket] = []
        self._closed = False

    def speak(
        self, config: Mapping[str, object], text: str, waits: Waits, stop: Callable[[], bool]
    ) -> Generator[Sound, None, None]:
        """The sound of a text as it comes; hung up when it is closed before its end, or `stop`
        says so.

        Args:
            config: fields of a speech request.

        Raises:
            RemoteError: the server cannot be had, refuses, or was lost.
        """
        socket = self._take()
        over = False
        try:
            if socket.open(stop):
                socket.send(json.dumps({"type": "session.config", **config}))
                socket.send(json.dumps({"type": "input.text", "text": text}))
                socket.send(json.dumps({"type": "input.done"}))
                over = yield from self._heard(socket, waits, stop)
        finally:
            if over:
                self._give_back(socket)
            else:
                socket.break_off()

    def close(self) -> None:
        """End the sockets that are idle. Idempotent."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for socket in idle:
            with suppress(RemoteError):
                socket.send(json.dumps({"type": "session.close"}))
            socket.close()

    def _heard(
        self, socket: ServerWebSocket, waits: Waits, stop: Callable[[], bool]
    ) -> Generator[Sound, None, bool]:
        """True at the end of the text; False when `stop` says so before."""
        clock = SystemClock()
        ends_s = clock.now() + waits.total_s
        piece: _Piece | None = None
        wait_s = waits.first_s
        while (message := socket.receive(stop, min(wait_s, ends_s - clock.now()))) is not None:
            if isinstance(message.data, bytes):
                piece = piece or _Piece(self._pcm_hz)
                sound = _sound(piece, message.data)
                wait_s = waits.gap_s
                if sound is not None:
                    yield sound
            else:
                told = self._read(message.data)
                match told:
                    case SocketAudioStart():
                        if told.format != "pcm":
                            raise RemoteError(f"{self.url} sends {told.format!r}, not pcm")
                        piece = _Piece(told.sample_rate or self._pcm_hz)
                    case SocketAudioDone():
                        self._check(told, piece)
                        piece = None
                    case SocketError():
                        raise RemoteError(f"{self.url}: {told.message or message.data}")
                    case SocketDone():
                        return True
            if clock.now() >= ends_s:
                raise stalled(self.url, waits.total_s)
        return False

    def _read(self, text: str) -> Said:
        try:
            return _messages.validate_json(text)
        except ValidationError as error:
            with suppress(ValueError):
                if (words := reported_error(json.loads(text))) is not None:
                    raise RemoteError(f"{self.url}: {words}") from None
            first = error.errors(include_url=False, include_input=False)[0]
            raise RemoteError(
                f"{self.url} answered {text[:100]!r}, which is no message of a speech server "
                f"({first['msg']}). Check base_url."
            ) from None

    def _check(self, done: SocketAudioDone, piece: _Piece | None) -> None:
        if done.error:
            words = done.error if isinstance(done.error, str) else "it failed"
            raise RemoteError(f"{self.url}: {words}")
        came = 0 if piece is None else piece.nbytes
        if done.total_bytes is not None and done.total_bytes != came:
            raise RemoteError(f"{self.url} sent {done.total_bytes} bytes of sound, and {came} came")

    def _take(self) -> ServerWebSocket:
        while True:
            with self._lock:
                socket = self._idle.pop() if self._idle else None
            if socket is None:
                return ServerWebSocket(self.url, self._headers)
            if not socket.lost:
                return socket
            socket.close()

    def _give_back(self, socket: ServerWebSocket) -> None:
        with self._lock:
            keep = not self._closed and len(self._idle) < MOST_IDLE and not socket.lost
            if keep:
                self._idle.append(socket)
        if not keep:
            socket.close()


def _sound(piece: _Piece, data: bytes) -> Sound | None:
    """The whole samples of what came; half a one waits for its other half."""
    piece.nbytes += len(data)
    data = piece.rest + data
    whole = len(data) - len(data) % 2
    piece.rest = data[whole:]
    if not whole:
        return None
    samples = np.frombuffer(data[:whole], "<i2").astype(np.int16)
    return Sound(from_int16(samples), piece.rate_hz)
