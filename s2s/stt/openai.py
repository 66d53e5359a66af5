"""Any server that speaks OpenAI's `/audio/transcriptions`: speaches, vLLM, whisper.cpp, OpenAI."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, to_int16
from s2s.core.setting import setting
from s2s.core.untyped import is_list, is_mapping
from s2s.models.resources import Resources
from s2s.stt.base import SttError, Transcription
from s2s.system.remote import (
    Remote,
    RemoteError,
    ServerConfig,
    Waits,
    is_html,
    reported_error,
    unexpected,
)

log = logging.getLogger(__name__)

MOST_BYTES = 2**24
"""An answer longer than this is no transcription."""
_NO_SPEECH = re.compile(r"(?:\s*(?:\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪+))+\s*")
_MIN_SAMPLES = PIPELINE_HZ // 10


@dataclass(frozen=True, slots=True)
class OpenAiTranscriberConfig(ServerConfig):
    """Options of speech to text on a server."""

    base_url: str = setting(
        "http://127.0.0.1:8000/v1", "Address of the API, up to and with its version."
    )
    model: str = setting("whisper-1", "Name of the model on the server.")
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
        try:
            self._remote = Remote(config)
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
        try:
            return self._ask(audio, language, self._config.timeout_s, stop)
        except RemoteError as error:
            raise SttError(str(error)) from error

    def warm(self) -> None:
        """Send half a second of silence, so that the server loads the model.

        A server that cannot yet is told of: speech comes later.

        Raises:
            SttError: the address or the key is wrong.
        """
        silence = np.zeros(PIPELINE_HZ // 2, dtype=np.float32)
        try:
            self._ask(silence, None, self._config.loading_timeout_s, lambda: False)
        except (RemoteError, SttError) as error:
            if isinstance(error, RemoteError) and error.final:
                raise SttError(str(error)) from error
            log.warning("Speech to text could not be warmed up: %s", error)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._remote.close()

    def _ask(
        self, audio: Block, language: str | None, busy_s: float, stop: Callable[[], bool]
    ) -> Transcription:
        """
        Raises:
            RemoteError: the server is not there, too slow, or refused.
            SttError: what it sent is no transcription.
        """
        config = self._config
        fields: dict[str, object] = {} if language is None else {"language": language}
        with self._remote.ask(
            lambda client, headers: client.audio.transcriptions.with_streaming_response.create(
                model=config.model,
                file=("speech.wav", wav_bytes(audio), "audio/wav"),
                response_format="json",
                extra_body=fields | dict(config.extra_body),
                extra_headers=headers,
            ),
            Waits(config.timeout_s, config.timeout_s, config.timeout_s + busy_s, busy_s),
            stop,
        ) as reply:
            kind, body = reply.content_type, reply.read(MOST_BYTES)
        if stop():
            return Transcription("")
        return transcription(body, kind, language, self._remote.url)


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


def transcription(body: bytes, content_type: str, language: str | None, url: str) -> Transcription:
    """What an answer with status 200 says was spoken.

    Args:
        body: JSON with `text`, or with `segments` that have it, or plain text.
        content_type: in lower case; "" when the server names none.
        language: what was asked for.
        url: names the server in errors.

    Raises:
        SttError: the answer is an error, or no transcription.
    """
    wrong = SttError(str(unexpected(url, body, "a transcription")))
    try:
        answer = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        if not content_type.startswith("text/plain") or is_html(body) or not body.strip():
            raise wrong from None
        return Transcription(_plain(body.decode("utf-8-sig", errors="replace")), language)
    if (words := reported_error(answer)) is not None:
        raise SttError(f"{url} failed: {words}")
    if not is_mapping(answer):
        raise wrong
    text = answer.get("text")
    if text is None and is_list(segments := answer.get("segments")):
        parts = [each.get("text") for each in segments if is_mapping(each)]
        text = "".join(part for part in parts if isinstance(part, str))
    if text is None and "text" in answer:
        text = ""  # nothing was heard
    if not isinstance(text, str):
        raise wrong
    heard = answer.get("language")
    if language is None and isinstance(heard, str) and re.fullmatch("[a-z]{2}", heard):
        language = heard
    return Transcription(_plain(text), language)


def _plain(text: str) -> str:
    """`text` without white space around it, halves of characters joined or replaced; "" where it
    is nothing but marks of what was no speech: `[BLANK_AUDIO]`, `(music)`, `♪`."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return "" if _NO_SPEECH.fullmatch(whole) else whole.strip()
