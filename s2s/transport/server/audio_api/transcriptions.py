"""`POST /v1/audio/transcriptions`: what is said in a sound file, all of it in memory."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from s2s.core.audio import PIPELINE_HZ, AudioError, Block, decode_sound
from s2s.core.audio.gain import raised
from s2s.stt.base import SttError
from s2s.stt.subtitles import SaidSegment, srt, usage, verbose, vtt, whole_text
from s2s.transport.server.audio_api import fields
from s2s.transport.server.audio_api.recordings import Recogniser, Writing, said_in
from s2s.transport.server.reply import ApiError, sse
from s2s.transport.server.server import Server
from s2s.transport.server.worker import Stop, while_connected

FORMATS = ("json", "text", "verbose_json", "srt", "vtt")


@dataclass(frozen=True, slots=True)
class TranscriptionRequest:
    """What is to be written down, and how."""

    sound: bytes
    format: str
    language: str | None
    words: bool
    stream: bool

    @property
    def writing(self) -> Writing:
        """Times are asked for, or words as soon as they are known: short pieces."""
        in_segments = self.stream or self.format not in ("json", "text")
        return Writing(self.language, in_segments, self.words and self.format == "verbose_json")


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


class TranscriptionsEndpoint:
    """The endpoint of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, request: Request) -> Response:
        wanted = await read_request(request, self._server)
        workers, services = self._server.workers, self._server.services
        recogniser = Recogniser(services.transcriber, services.vad, services.compute)
        if wanted.stream:
            sound = await workers.call(lambda _: heard_sound(wanted, self._server))
            said = workers.stream(lambda stop: said_in(sound, recogniser, wanted.writing, stop))
            return StreamingResponse(_events(said, sound), media_type="text/event-stream")

        def work(stop: Stop) -> tuple[Block, list[SaidSegment]]:
            sound = heard_sound(wanted, self._server)
            return sound, list(said_in(sound, recogniser, wanted.writing, stop))

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
