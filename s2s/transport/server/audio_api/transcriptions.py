"""`POST /v1/audio/transcriptions`: what is said in a sound file, all of it in memory."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from s2s.core.audio import PIPELINE_HZ, AudioError, Block, decode_sound
from s2s.core.audio.gain import raised
from s2s.core.work import Work
from s2s.stt.base import SttError
from s2s.stt.windows import quiet_windows
from s2s.transport.server.audio_api import fields
from s2s.transport.server.audio_api.subtitles import (
    SaidSegment,
    srt,
    usage,
    verbose,
    vtt,
    whole_text,
)
from s2s.transport.server.handover import Services
from s2s.transport.server.reply import ApiError, sse
from s2s.transport.server.server import Server
from s2s.transport.server.worker import Stop, while_connected
from s2s.turns.speech_regions import speech_regions

FORMATS = ("json", "text", "verbose_json", "srt", "vtt")

GAP_S = 0.8
"""A pause as long as this parts two segments where their times are asked for."""
SEGMENT_S = 12.0
"""Longer ones are cut at quiet points then."""


@dataclass(frozen=True, slots=True)
class TranscriptionRequest:
    """What is to be written down, and how."""

    sound: bytes
    format: str
    language: str | None
    words: bool
    stream: bool

    @property
    def in_segments(self) -> bool:
        """Times are asked for, or words as soon as they are known: short pieces."""
        return self.stream or self.format not in ("json", "text")


async def read_request(request: Request, server: Server) -> TranscriptionRequest:
    """
    Raises:
        ApiError: no form, no file in it, or a field that cannot be.
    """
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ApiError(400, "invalid_request", "Send the file as multipart/form-data.")
    most = server.config.max_upload_bytes
    body = await fields.read_body(request, most + 64 * 1024)

    async def parts() -> AsyncGenerator[bytes]:
        yield body

    parser = MultiPartParser(request.headers, parts(), max_files=1, max_fields=100)
    parser.spool_max_size = len(body) + 1  # in memory: nothing of a client's is written to disk
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError, UnicodeError) as error:
        raise ApiError(400, "invalid_request", "The form cannot be read.") from error
    try:
        return await _request_of(form, server)
    finally:
        await form.close()


async def _request_of(form: FormData, server: Server) -> TranscriptionRequest:
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise ApiError(400, "missing_required_parameter", "file is missing.", param="file")
    given: Mapping[str, object] = {
        name: value for name, value in form.multi_items() if isinstance(value, str)
    }
    kinds = [*form.getlist("timestamp_granularities[]"), *form.getlist("timestamp_granularities")]
    return TranscriptionRequest(
        await upload.read(),
        fields.one_of(given, "response_format", FORMATS),
        fields.text(given, "language", default="") or server.services.language,
        "word" in kinds,
        fields.flag(given, "stream"),
    )


def heard_sound(request: TranscriptionRequest, server: Server) -> Block:
    """The sound, float32 [samples at 16 kHz].

    Raises:
        ApiError: it is none.
    """
    try:
        sound, _ = decode_sound(
            io.BytesIO(request.sound), "file", PIPELINE_HZ, most_s=server.config.max_upload_s
        )
    except AudioError as error:
        raise ApiError(400, "invalid_value", str(error), param="file") from error
    server.metrics.count("s2s_transcribed_seconds_total", by=len(sound) / PIPELINE_HZ)
    return raised(sound, PIPELINE_HZ).samples


def pieces(sound: Block, services: Services, *, short: bool) -> Iterator[slice]:
    """Where something is said; `short` pieces have the better times, long ones the better words."""
    if not short:
        yield from speech_regions(sound, services.vad.open())
        return
    for region in speech_regions(sound, services.vad.open(), gap_s=GAP_S):
        for window in quiet_windows(sound[region], int(SEGMENT_S * PIPELINE_HZ)):
            yield slice(region.start + window.start, region.start + window.stop)


def segments(
    request: TranscriptionRequest, sound: Block, services: Services, stop: Stop
) -> Iterator[SaidSegment]:
    """What is said, piece by piece; in a thread."""
    for piece in pieces(sound, services, short=request.in_segments):
        services.compute.wait(Work.TEXT_AHEAD, stop)
        if stop():
            return
        with services.compute.working(Work.TEXT_AHEAD):
            heard = services.transcriber.transcribe(
                sound[piece], language=request.language, stop=stop
            )
        if heard.text:
            yield SaidSegment(
                heard.text,
                piece.start / PIPELINE_HZ,
                piece.stop / PIPELINE_HZ,
                heard.language,
                heard.confidence,
            )


class TranscriptionsEndpoint:
    """The endpoint of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, request: Request) -> Response:
        wanted = await read_request(request, self._server)
        workers, services = self._server.workers, self._server.services
        if wanted.stream:
            sound = await workers.call(lambda _: heard_sound(wanted, self._server))
            said = workers.stream(lambda stop: segments(wanted, sound, services, stop))
            return StreamingResponse(_events(said, sound), media_type="text/event-stream")

        def work(stop: Stop) -> tuple[Block, list[SaidSegment]]:
            sound = heard_sound(wanted, self._server)
            return sound, list(segments(wanted, sound, services, stop))

        sound, found = await while_connected(request, workers.call(work))
        return _told(wanted, found, len(sound) / PIPELINE_HZ)


def _told(wanted: TranscriptionRequest, found: list[SaidSegment], duration_s: float) -> Response:
    match wanted.format:
        case "text":
            return PlainTextResponse(whole_text(found) + "\n")
        case "srt":
            return PlainTextResponse(srt(found))
        case "vtt":
            return PlainTextResponse(vtt(found), media_type="text/vtt")
        case "verbose_json":
            heard = next((each.language for each in found if each.language), wanted.language)
            return JSONResponse(verbose(found, duration_s, heard, words=wanted.words))
        case _:
            return JSONResponse({"text": whole_text(found), "usage": usage(duration_s)})


async def _events(said: AsyncGenerator[SaidSegment], sound: Block) -> AsyncGenerator[bytes]:
    """What is said as server-sent events, each piece as soon as it is known."""
    found: list[SaidSegment] = []
    try:
        async with aclosing(said):
            async for segment in said:
                delta = f" {segment.text}" if found else segment.text
                found.append(segment)
                yield sse(None, json.dumps({"type": "transcript.text.delta", "delta": delta}))
    except (SttError, ApiError) as error:
        told = {"message": str(error), "type": "server_error", "code": "model_failed"}
        yield sse(None, json.dumps({"type": "error", "error": told}))
        return
    end = {
        "type": "transcript.text.done",
        "text": whole_text(found),
        "usage": usage(len(sound) / PIPELINE_HZ),
    }
    yield sse(None, json.dumps(end))
