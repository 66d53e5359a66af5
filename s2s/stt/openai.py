"""Any server that speaks OpenAI's `/audio/transcriptions`: speaches, vLLM, whisper.cpp, OpenAI."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, to_int16
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.stt.base import SttError, Transcription
from s2s.system.remote import Deadline, Endpoint, Remote, RemoteError, Request, stalled

_MIN_SAMPLES = PIPELINE_HZ // 10


@dataclass(frozen=True, slots=True)
class OpenAiTranscriberConfig:
    """Options of speech to text on a server."""

    base_url: str = setting(
        "http://127.0.0.1:8000/v1", "Address of the API, up to and with its version."
    )
    model: str = setting("whisper-1", "Name of the model on the server.")
    api_key_env: str | None = setting(
        None,
        "Environment variable with the key; none: OPENAI_API_KEY for api.openai.com, else no key.",
    )
    connect_timeout_s: float = setting(5.0, "Longest wait for a connection.")
    timeout_s: float = setting(20.0, "Longest wait for a transcript.")


class OpenAiTranscriber:
    """Writes down speech by asking a server. Calls may come from several threads."""

    def __init__(self, config: OpenAiTranscriberConfig, resources: Resources) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            SttError: the address is none, or the key's variable is not set.
        """
        del resources
        self._config = config
        endpoint = Endpoint(
            config.base_url,
            config.api_key_env,
            config.connect_timeout_s,
            config.timeout_s,
            config.timeout_s,
        )
        try:
            self._remote = Remote(endpoint)
        except RemoteError as error:
            raise SttError(str(error)) from error

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """Transcribe one utterance; see `s2s.stt.base.Transcriber`.

        Raises:
            SttError: the server is not there, too slow, or answered with an error.
        """
        del earlier
        if len(audio) < _MIN_SAMPLES or stop():
            return Transcription("")
        fields = {"model": self._config.model, "response_format": "json"}
        if language is not None:
            fields["language"] = language
        late = Deadline(self._config.timeout_s)
        body = bytearray()
        request = Request(
            "/audio/transcriptions",
            fields=fields,
            files={"file": ("speech.wav", wav_bytes(audio), "audio/wav")},
        )
        try:
            for data in self._remote.stream(request, stop):
                if late.passed:
                    raise stalled(self._config.base_url, late.wait_s)
                body += data
        except RemoteError as error:
            raise SttError(str(error)) from error
        if stop():
            return Transcription("")
        return _transcription(bytes(body), language)

    def warm(self) -> None:
        """Send half a second of silence, so that the server loads the model."""
        self.transcribe(np.zeros(PIPELINE_HZ // 2, dtype=np.float32))

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._remote.close()


def wav_bytes(audio: Block) -> bytes:
    """`audio` float32 [samples at 16 kHz] as a 16-bit WAV file."""
    import wave

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(PIPELINE_HZ)
        file.writeframes(to_int16(audio).astype("<i2").tobytes())
    return out.getvalue()


def _transcription(body: bytes, language: str | None) -> Transcription:
    """
    Raises:
        SttError: the answer is no transcription.
    """
    try:
        text = json.loads(body)["text"]
    except (ValueError, KeyError, TypeError) as error:
        raise SttError(
            f"the server's answer {body[:80]!r} is no transcription. Check base_url."
        ) from error
    return Transcription(str(text).strip(), language)
