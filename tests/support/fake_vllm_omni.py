"""A vLLM-Omni of the documented behaviour, without its models: `/v1/audio/speech` and the WebSocket
beside it, with sound, and with codes as the prototype that runs the talker alone gives them.

It differs where the real one does: unknown fields are ignored, a name of a voice that it does not
have is refused, sound is s16le at 24 kHz, a raw body needs `stream_format: audio`, `stream: true`
alone is answered by server-sent events, and while it speaks it does not read its socket: who wants
it silent hangs up. The prototype of codes does read it, for `input.cancel`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from s2s.core.arrays import Ids
from s2s.core.untyped import is_object
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.run import bind

VOICES = ("vivian", "ryan")
LANGUAGES = ("auto", "english", "chinese", "german")
FRAME_SAMPLES = 1920

Body = dict[str, object]


@dataclass
class FakeVllmOmni:
    """What it says, and what it was asked."""

    frames: int = 12
    """Of each answer; -1: it never ends."""
    codebook_size: int = 2048
    breaks_after: int | None = None
    """Frames after which it drops the connection without a word."""
    codes: Ids | None = None
    """int64 [n, 16] that it sends in place of made ones."""
    requests: list[Body] = field(default_factory=list)
    connections: int = 0
    aborted: threading.Event = field(default_factory=threading.Event)
    """Set when an answer was given up."""
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def app(self) -> Starlette:
        """Its addresses."""
        return Starlette(
            routes=[
                Route("/v1/audio/speech", self._speech, methods=["POST"]),
                Route("/v1/audio/voices", self._voices),
                WebSocketRoute("/v1/audio/speech/stream", self._stream),
            ]
        )

    def frame_codes(self, index: int) -> Ids:
        """int64 [16] of a frame."""
        if self.codes is not None:
            return self.codes[index]
        return (np.arange(16) * 31 + 17 * index) % (self.codebook_size - 1) + 1

    def pcm(self, index: int) -> bytes:
        """A frame of sound."""
        return np.full(FRAME_SAMPLES, 100 + index % 1000, "<i2").tobytes()

    def _indexes(self) -> Iterator[int]:
        index = 0
        while self.frames < 0 or index < self.frames:
            yield index
            index += 1

    def _refusal(self, body: Body) -> str | None:
        voice, language = str(body.get("voice", VOICES[0])), str(body.get("language", "auto"))
        if voice.lower() not in VOICES:
            return f"Invalid voice '{voice}'. Supported: {', '.join(VOICES)}"
        if language.lower() not in LANGUAGES:
            return f"Invalid language '{language}'. Supported: {', '.join(LANGUAGES)}"
        return None

    # --- HTTP ----------------------------------------------------------------------------------

    async def _voices(self, request: Request) -> Response:
        return JSONResponse({"voices": list(VOICES), "uploaded_voices": []})

    async def _speech(self, request: Request) -> Response:
        body: object = await request.json()
        assert is_object(body)
        self.requests.append(body)
        if (refusal := self._refusal(body)) is not None:
            told = {"message": refusal, "type": "BadRequestError", "param": None, "code": 400}
            return JSONResponse({"error": told}, 400)
        if body.get("stream_format") == "audio" and body.get("response_format") == "pcm":
            return StreamingResponse(self._raw(), media_type="audio/pcm")
        if body.get("stream"):
            return StreamingResponse(self._sse(), media_type="text/event-stream")
        whole = b"".join(self.pcm(index) for index in self._indexes())
        return Response(whole, media_type="audio/pcm")

    async def _raw(self) -> AsyncGenerator[bytes]:
        try:
            for index in self._indexes():
                yield self.pcm(index)
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.aborted.set()
            raise

    async def _sse(self) -> AsyncGenerator[bytes]:
        for index in self._indexes():
            audio = base64.b64encode(self.pcm(index)).decode()
            event = {"type": "speech.audio.delta", "audio": audio}
            yield f"data: {json.dumps(event)}\n\n".encode()
        yield b'data: {"type": "speech.audio.done", "usage": {}}\n\n'

    # --- WebSocket -----------------------------------------------------------------------------

    async def _stream(self, websocket: WebSocket) -> None:
        await websocket.accept()
        self.connections += 1
        config: Body = {}
        text: list[str] = []
        utterances = 0
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                message: object = json.loads(await websocket.receive_text())
                assert is_object(message)
                match message.get("type"):
                    case "session.config":
                        config = {**message}
                        self.requests.append(config)
                        if (refusal := self._refusal(config)) is not None:
                            config = {}
                            await websocket.send_json({"type": "error", "message": refusal})
                    case "input.text":
                        text.append(str(message.get("text")))
                    case "input.done" if config:
                        said, text = "".join(text), []
                        if config.get("output_mode") == "codec_tokens":
                            gone = await self._codes(websocket, said, utterances)
                        else:
                            gone = await self._sound(websocket, said, utterances, config)
                        if gone:
                            return
                        utterances += 1
                    case "session.close":
                        return
                    case _:
                        pass

    async def _sound(self, websocket: WebSocket, said: str, utterance: int, config: Body) -> bool:
        """Sound: the socket is not read meanwhile. True once the client has gone."""
        assert config.get("response_format") == "pcm"
        about = {"utterance_index": utterance, "sentence_index": 0}
        start = {
            "type": "audio.start", **about, "sentence_text": said, "format": "pcm",
            "sample_rate": 24000, "channels": 1,
        }  # fmt: skip
        await websocket.send_json(start)
        total = 0
        try:
            for index in self._indexes():
                if index == self.breaks_after:
                    await websocket.close(1011)
                    return True
                data = self.pcm(index)
                total += len(data)
                await websocket.send_bytes(data)
                await asyncio.sleep(0)
        except (WebSocketDisconnect, RuntimeError):
            self.aborted.set()
            return True
        await websocket.send_json({"type": "audio.done", **about, "total_bytes": total})
        done = {"type": "session.done", "utterance_index": utterance, "total_sentences": 1}
        await websocket.send_json(done)
        return False

    async def _codes(self, websocket: WebSocket, said: str, utterance: int) -> bool:
        """Codes, version 1: the socket is read meanwhile. True once the client has gone."""
        about = {"utterance_index": utterance, "sentence_index": 0}
        start = {
            "type": "codec.start", "version": 1, **about, "sentence_text": said,
            "model": "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice", "codebooks": 16,
            "codebook_size": self.codebook_size, "frame_rate_hz": 12.5, "sample_rate": 24000,
            "decoder_id": "qwen3_tts_tokenizer_v2_12hz", "header_format": "<IHB",
        }  # fmt: skip
        await websocket.send_json(start)
        reading = asyncio.ensure_future(websocket.receive_text())
        seq = -1
        cancelled = False
        try:
            for index in self._indexes():
                if index == self.breaks_after:
                    await websocket.close(1011)
                    return True
                if reading.done():
                    if json.loads(reading.result()).get("type") == "input.cancel":
                        cancelled = True
                        self.aborted.set()
                        break
                    reading = asyncio.ensure_future(websocket.receive_text())
                seq += 1
                header = struct.pack("<IHB", seq, 1, 4 if seq == 0 else 0)
                await websocket.send_bytes(header + self.frame_codes(index).astype("<i2").tobytes())
                await asyncio.sleep(0)
        except (WebSocketDisconnect, RuntimeError):
            self.aborted.set()
            return True
        finally:
            if not reading.done():
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading
        if cancelled:
            await websocket.send_json({"type": "input.cancelled", **about})
        else:
            seq += 1
            await websocket.send_bytes(struct.pack("<IHB", seq, 0, 3))
        done = {"type": "codec.done", **about, "total_frames": seq, "seq_last": seq}
        await websocket.send_json({**done, "error": None, "cancelled": cancelled})
        await websocket.send_json(
            {"type": "session.done", "utterance_index": utterance, "total_sentences": 1}
        )
        return False


class _Quiet(uvicorn.Server):
    """uvicorn whose signals are the test's own."""

    def __init__(self, config: uvicorn.Config, listens: threading.Event) -> None:
        super().__init__(config)
        self._listens = listens

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: object = None) -> None:
        await super().startup(sockets)  # pyright: ignore[reportArgumentType]
        self._listens.set()


@contextmanager
def serving(fake: FakeVllmOmni) -> Iterator[FakeVllmOmni]:
    """It listens on a free port of this machine, in a thread of this process."""
    listens = threading.Event()
    with bind(ServeConfig(port=0)) as bound:
        fake.port = int(bound.getsockname()[1])
        bound.listen(16)
        server = _Quiet(
            uvicorn.Config(
                fake.app(), log_config=None, access_log=False, ws_ping_interval=None,
                timeout_graceful_shutdown=1,
            ),
            listens,
        )  # fmt: skip
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
        thread.start()
        try:
            assert listens.wait(30)
            yield fake
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()
