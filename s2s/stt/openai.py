"""Any server that speaks OpenAI's `/audio/transcriptions`: speaches, vLLM, whisper.cpp, OpenAI.

Its words may come while it writes them (`stream`), with the time of each (`verbose_json`), and as
they are taught (`prompt`), where the server's model does so.
"""

from __future__ import annotations

import io
import json
import logging
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeGuard

import numpy as np

from s2s.config.language_codes import language_code
from s2s.core.audio import PIPELINE_HZ, Block, to_int16
from s2s.core.setting import setting
from s2s.core.untyped import is_list, is_mapping
from s2s.models.resources import Resources
from s2s.stt.base import SttError, TimedWord, Transcription
from s2s.stt.taught_words import hint
from s2s.stt.transcription_events import TranscriptionEvents
from s2s.stt.word_times import fitted
from s2s.system.remote import (
    Remote,
    RemoteError,
    Reply,
    ServerConfig,
    Waits,
    is_html,
    reported_error,
    unexpected,
)

if TYPE_CHECKING:
    import openai

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
    stream: bool = setting(
        False,
        "Ask for words while the server writes them; what it sends whole is taken, too. OpenAI's "
        "gpt-4o-transcribe and vLLM send them, whisper-1 does not.",
    )


class OpenAiTranscriber:
    """Writes down speech by asking a server. Calls may come from several threads."""

    def __init__(self, config: OpenAiTranscriberConfig, resources: Resources) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            SttError: the address is none, or the key's variable is not set.
        """
        self._config = config
        self._words = hint(resources.words)
        self._tells_words = True
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
        return self._transcribed(audio, language, stop, _Wish())

    def transcribe_growing(
        self,
        audio: Block,
        *,
        so_far: Callable[[Transcription], None],
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """See `s2s.stt.base.GrowingTranscriber`; all at once unless `stream` is set."""
        del earlier
        wish = _Wish(so_far=so_far if self._config.stream else None)
        return self._transcribed(audio, language, stop, wish)

    def transcribe_words(
        self,
        audio: Block,
        *,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """See `s2s.stt.base.WordTimingTranscriber`. A server that refuses `verbose_json` is asked
        once, then without."""
        if self._tells_words:
            try:
                return self._transcribed(audio, language, stop, _Wish(words=True))
            except _RefusedError as error:
                log.warning("%s The times of words are not asked for any more.", error)
                self._tells_words = False
        return self._transcribed(audio, language, stop, _Wish())

    def _transcribed(
        self, audio: Block, language: str | None, stop: Callable[[], bool], wish: _Wish
    ) -> Transcription:
        if len(audio) < _MIN_SAMPLES or stop():
            return Transcription("")
        try:
            return self._ask(audio, language, self._config.timeout_s, stop, wish)
        except RemoteError as error:
            refused = wish.words and error.status in (400, 404, 415, 422, 501)
            raise (_RefusedError if refused else SttError)(str(error)) from error

    def warm(self) -> None:
        """Send half a second of silence, so that the server loads the model.

        A server that cannot yet is told of: speech comes later.

        Raises:
            SttError: the address or the key is wrong.
        """
        silence = np.zeros(PIPELINE_HZ // 2, dtype=np.float32)
        try:
            self._ask(silence, None, self._config.loading_timeout_s, lambda: False, _Wish())
        except (RemoteError, SttError) as error:
            if isinstance(error, RemoteError) and error.final:
                raise SttError(str(error)) from error
            log.warning("Speech to text could not be warmed up: %s", error)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._remote.close()

    def _ask(
        self,
        audio: Block,
        language: str | None,
        busy_s: float,
        stop: Callable[[], bool],
        wish: _Wish,
    ) -> Transcription:
        """
        Raises:
            RemoteError: the server is not there, too slow, or refused.
            SttError: what it sent is no transcription.
        """
        with self._send(audio, language, busy_s, stop, wish) as reply:
            if wish.so_far is not None:
                return self._read(reply, language, stop, wish.so_far)
            kind, body = reply.content_type, reply.read(MOST_BYTES)
        if stop():
            return Transcription("")
        return transcription(body, kind, language, self._remote.url)

    def _send(
        self,
        audio: Block,
        language: str | None,
        busy_s: float,
        stop: Callable[[], bool],
        wish: _Wish,
    ) -> Reply:
        config = self._config
        fields: dict[str, object] = {} if language is None else {"language": language}
        if self._words:
            fields["prompt"] = self._words
        if wish.so_far is not None:
            fields["stream"] = "true"
        form: Literal["json", "verbose_json"] = "verbose_json" if wish.words else "json"
        granularities: list[Literal["word", "segment"]] | openai.Omit = (
            ["word"] if wish.words else _omit()
        )
        return self._remote.ask(
            lambda client, headers: client.audio.transcriptions.with_streaming_response.create(
                model=config.model,
                file=("speech.wav", wav_bytes(audio), "audio/wav"),
                response_format=form,
                timestamp_granularities=granularities,
                extra_body=fields | dict(config.extra_body),
                extra_headers=headers,
            ),
            Waits(config.timeout_s, config.timeout_s, config.timeout_s + busy_s, busy_s),
            stop,
        )

    def _read(
        self,
        reply: Reply,
        language: str | None,
        stop: Callable[[], bool],
        so_far: Callable[[Transcription], None],
    ) -> Transcription:
        """An answer in events, or whole from a server that heeds no `stream`."""
        events, body = TranscriptionEvents(self._remote.url), bytearray()
        try:
            for data in reply:
                body += data[: MOST_BYTES - len(body)]
                if events.push(data) and not stop():
                    so_far(Transcription(_plain(events.text), language))
        except RemoteError:
            if not events.done:
                raise
        if stop():
            return Transcription("")
        if not events.begun:
            return transcription(bytes(body), reply.content_type, language, self._remote.url)
        return Transcription(_plain(events.finish()), language)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is asked for beyond the words."""

    words: bool = False
    """When each was said."""
    so_far: Callable[[Transcription], None] | None = None
    """Takes them as they come."""


class _RefusedError(SttError):
    """The server does not do what was wished."""


def _omit() -> openai.Omit:
    import openai

    return openai.omit


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
    if language is None and isinstance(heard, str):
        code = language_code(heard)  # "en", or "english" in verbose_json
        language = code if re.fullmatch("[a-z]{2}", code) else None
    plain = _plain(text)
    return Transcription(plain, language, words=fitted(plain, told_words(answer)))


def told_words(answer: Mapping[str, object]) -> list[TimedWord]:
    """The words with times in an answer: those of OpenAI, or those within segments, as whisper.cpp
    has them. What is no word with its times is left out."""
    listed = answer.get("words")
    rows = list(listed) if is_list(listed) else []
    segments = answer.get("segments")
    if not rows and is_list(segments):
        inner = [each.get("words") for each in segments if is_mapping(each)]
        rows = [row for each in inner if is_list(each) for row in each]
    words: list[TimedWord] = []
    for row in rows:
        if not is_mapping(row):
            continue
        text, start_s, end_s = row.get("word", row.get("text")), row.get("start"), row.get("end")
        if isinstance(text, str) and _is_time(start_s) and _is_time(end_s):
            words.append(TimedWord(text, float(start_s), float(end_s)))
    return words


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _plain(text: str) -> str:
    """`text` without white space around it, halves of characters joined or replaced; "" where it
    is nothing but marks of what was no speech: `[BLANK_AUDIO]`, `(music)`, `♪`."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return "" if _NO_SPEECH.fullmatch(whole) else whole.strip()
