"""`POST /v1/audio/speech`: a text spoken, in bytes as they are made."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from s2s.core.audio import Block
from s2s.core.untyped import is_mapping
from s2s.core.work import Shift, Work, each
from s2s.transport.server.audio_api import fields
from s2s.transport.server.audio_api.encoders import (
    RATE_HZ,
    SPEECH_FORMATS,
    Resampled,
    encoder,
)
from s2s.transport.server.handover import Services
from s2s.transport.server.reply import ApiError, sse
from s2s.transport.server.server import Server
from s2s.transport.server.worker import Stop
from s2s.tts.base import TtsError
from s2s.tts.speak import instructed, language_for, speak
from s2s.tts.tempo import FASTEST, SLOWEST, Tempo

STOCK_VOICES = (
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage",
    "shimmer", "verse",
)  # fmt: skip
"""Voices of the API's own service, one of which every client must name: here they are the
configured one, unless the voice in use has a voice of that name."""


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """What is to be said, and how."""

    text: str
    voice: str | None
    """One of the synthesizer's; None: the configured one."""
    speed: float
    format: str
    by_events: bool
    language: str | None
    instructions: str
    """How to say it; heeded by models that can be told."""


def read_request(body: Mapping[str, object], server: Server) -> SpeechRequest:
    """
    Raises:
        ApiError: a field that is missing, or that cannot be.
    """
    words = fields.text(body, "input")
    most = server.config.max_input_chars
    if len(words) > most:
        raise ApiError(
            400,
            "invalid_value",
            f"input has {len(words)} characters; {most} are the most.",
            param="input",
        )
    services = server.services
    supported = services.synthesizer.capabilities.languages
    wanted = fields.text(body, "language", default="") or services.language
    return SpeechRequest(
        words,
        chosen_voice(body.get("voice"), services),
        fields.number(body, "speed", 1.0, 0.25, 4.0),
        fields.one_of(body, "response_format", tuple(SPEECH_FORMATS)),
        fields.one_of(body, "stream_format", ("audio", "sse")) == "sse",
        language_for(words, supported, wanted),
        fields.text(body, "instructions", default=""),
    )


def chosen_voice(given: object, services: Services) -> str | None:
    """The synthesizer's name of the voice that a client names; None: the configured one. A name is
    looked up, and never opened as a file.

    Raises:
        ApiError: there is no such voice.
    """
    if is_mapping(given):
        given = given.get("id")
    if given is None:
        return None
    if not isinstance(given, str):
        raise fields.wrong_type("voice", "a name")
    voices = services.synthesizer.capabilities.voices
    if given in voices:
        return given
    if given.lower() in STOCK_VOICES or given in ("", "default"):
        return None
    known = ", ".join(voices[:20]) or "one voice alone, `default`"
    raise ApiError(
        400, "invalid_value", f"No voice {given[:60]!r} here; there is {known}.", param="voice"
    )


def paced(blocks: Iterator[Block], rate_hz: int, speed: float) -> Iterator[Block]:
    """`blocks` at another pace, 0.25 to 4, and the same pitch."""
    if speed == 1:
        yield from blocks
        return
    first = min(max(speed, SLOWEST), FASTEST)
    tempos = [Tempo(rate_hz, first)]
    if speed != first:  # beyond what one can do: two, one behind the other
        tempos.append(Tempo(rate_hz, speed / first))
    for block in blocks:
        for tempo in tempos:
            block = tempo.push(block)
        yield block
    for index, tempo in enumerate(tempos):
        block = tempo.flush()
        for later in tempos[index + 1 :]:
            block = later.push(block)
        yield block


def spoken(request: SpeechRequest, server: Server, stop: Stop) -> Iterator[bytes]:
    """The bytes of the answer, as they are made; in a thread."""
    services = server.services
    voice = instructed(services.synthesizer, request.instructions)
    capabilities = voice.capabilities
    rate_hz = capabilities.sample_rate_hz
    # Whoever talks to the server waits for its voice; here a file is made.
    shift = Shift(services.compute, lambda: Work.SOUND_LATER, capabilities.threads)
    chunks = speak(request.text, voice, request.language, voice=request.voice, stop=stop).chunks
    out = Resampled(encoder(request.format), rate_hz)
    blocks = (chunk.samples for chunk in each(chunks, shift))
    for block in paced(blocks, rate_hz, request.speed):
        if data := out.push(block):
            yield data
    if not out.samples and (data := out.push(np.zeros(rate_hz // 10, np.float32))):
        yield data  # nothing to say in that text: the file is one all the same
    if not stop():
        server.metrics.count("s2s_speech_seconds_total", by=out.samples / RATE_HZ)
        yield out.finish()


class SpeechEndpoint:
    """The endpoint of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, request: Request) -> Response:
        """Answer with the first sound, so that what fails before it has its own status."""
        wanted = read_request(await fields.json_object(request), self._server)
        data = self._server.workers.stream(lambda stop: spoken(wanted, self._server, stop))
        try:
            first = await anext(data, b"")
        except BaseException:
            await data.aclose()
            raise
        if wanted.by_events:
            return StreamingResponse(_events(first, data, wanted), media_type="text/event-stream")
        kind = SPEECH_FORMATS[wanted.format].media_type
        return StreamingResponse(_after(first, data), media_type=kind)


async def _after(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    async with aclosing(rest):
        yield first
        async for data in rest:
            yield data


async def _events(
    first: bytes, rest: AsyncGenerator[bytes], request: SpeechRequest
) -> AsyncGenerator[bytes]:
    """The same as server-sent events."""
    try:
        async with aclosing(_after(first, rest)) as pieces:
            async for data in pieces:
                audio = base64.b64encode(data).decode()
                yield sse(None, json.dumps({"type": "speech.audio.delta", "audio": audio}))
    except TtsError as error:
        told = {"message": str(error), "type": "server_error", "code": "model_failed"}
        yield sse(None, json.dumps({"type": "error", "error": told}))
        return
    read = -(-len(request.text) // 4)
    usage = {"input_tokens": read, "output_tokens": 0, "total_tokens": read}
    yield sse(None, json.dumps({"type": "speech.audio.done", "usage": usage}))
