"""Any server that speaks OpenAI's `/audio/speech`: speaches, Kokoro-FastAPI, vLLM, OpenAI."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from s2s.core.audio import Resampler
from s2s.core.audio.manner import SpeakingManner
from s2s.core.clock import SystemClock
from s2s.core.setting import made_setting, setting
from s2s.models.resources import Resources
from s2s.system.remote import Remote, RemoteError, ServerConfig, Waits
from s2s.tts.backends.qwen3.languages import wire_name
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.sound_stream import Sound, read_sound
from s2s.tts.tempo import check_speed, paced

if TYPE_CHECKING:
    from s2s.tts.backends.openai_socket import SpeechSockets

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenAiSpeechConfig(ServerConfig):
    """Options of text to speech on a server."""

    base_url: str = setting(
        "http://127.0.0.1:8880/v1", "Address of the API, up to and with its version."
    )
    model: str = setting("tts-1", "Name of the model on the server.")
    voice: str = setting("alloy", "Voice to speak with.")
    voices: tuple[str, ...] = setting((), "Other voices a caller may choose.")
    languages: tuple[str, ...] = setting(("en",), "Languages the voices speak, as ISO 639-1 codes.")
    dialect: Literal["openai", "vllm-omni"] = setting(
        "openai",
        "What it understands beyond OpenAI's fields: vllm-omni is told the language, and streams "
        "what it makes.",
    )
    socket: bool = setting(
        False,
        "Speak over the WebSocket of vLLM-Omni, /audio/speech/stream, in place of HTTP: one "
        "connection for all texts (extra `remote`).",
    )
    voice_names: Mapping[str, str] = made_setting(
        dict[str, str], "Voices by other names than the server's: {reader: vivian}."
    )
    language_names: Mapping[str, str] = made_setting(
        dict[str, str],
        "What the server calls languages, by ISO 639-1 code: {de: German}; with vllm-omni "
        "Qwen3-TTS' ten are known.",
    )
    format: Literal["pcm", "wav", "mp3", "opus", "flac"] = setting(
        "pcm", "What to ask for; pcm and wav are heard as they arrive, the others once whole."
    )
    sample_rate_hz: int = setting(24_000, "Rate of the server's PCM; the other formats say theirs.")
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")
    first_audio_timeout_s: float = setting(20.0, "Longest wait for the first sound of a text.")
    gap_timeout_s: float = setting(10.0, "Longest wait between two pieces of sound.")
    total_timeout_s: float = setting(300.0, "Longest time for one text.")

    def __post_init__(self) -> None:
        check_speed(self.speed)


class OpenAiSpeech:
    """Speaks by asking a server. Calls may come from several threads."""

    def __init__(self, config: OpenAiSpeechConfig, resources: Resources) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            TtsError: the address is none, or the key's variable is not set.
        """
        del resources
        self._config = config
        self._real_time_factor = 0.0
        try:
            self._remote = Remote(config)
            self._sockets = _sockets(config, self._remote) if config.socket else None
        except RemoteError as error:
            raise TtsError(str(error)) from error

    @property
    def capabilities(self) -> Capabilities:
        config = self._config
        return Capabilities(
            sample_rate_hz=config.sample_rate_hz,
            streaming=True,
            languages=config.languages,
            voices=tuple(dict.fromkeys((config.voice, *config.voices, *config.voice_names))),
        )

    @property
    def description(self) -> str:
        """The model and where it is."""
        return f"{self._config.model} at {self._remote.url}"

    @property
    def real_time_factor(self) -> float:
        """Seconds of waiting for a second of speech, measured by `warm`; 0 when it could not."""
        return self._real_time_factor

    @property
    def measured_how(self) -> str:
        """It is measured at every start."""
        return ""

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound as it arrives; see `s2s.tts.base.Synthesizer`."""
        yield from self.synthesize_instructed(text, "", voice=voice, language=language, stop=stop)

    @property
    def takes_instructions(self) -> bool:
        """They are passed on; what its model makes of them is the server's."""
        return True

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `s2s.tts.base.InstructedSynthesizer`."""
        voice = voice or self._config.voice
        if voice not in self.capabilities.voices:
            raise TtsError(
                f"no voice {voice!r}; there are {', '.join(self.capabilities.voices)}. "
                "Add it to tts.openai.voices."
            )
        if not any(character.isalnum() for character in text):
            return
        try:
            busy_s = self._config.first_audio_timeout_s
            sound = self._sound(text, self._fields(voice, language, instructions), busy_s, stop)
            config = self._config
            louder = SpeakingManner(volume_db=config.volume_db)
            yield from paced(sound, config.sample_rate_hz, config.speed, louder)
        except RemoteError as error:
            if not stop():
                raise TtsError(str(error)) from error

    def warm(self) -> None:
        """Have a sentence spoken, unheard, so that the server loads the model, and time it.

        A server that cannot yet is told of: the answers come later.

        Raises:
            TtsError: the address or the key is wrong.
        """
        config, clock = self._config, SystemClock()
        try:
            for text in ("Hello.", "This tells how quick I am."):
                started_s, samples = clock.now(), 0
                fields = self._fields(config.voice, None, "")
                busy_s = config.loading_timeout_s
                for chunk in self._sound(text, fields, busy_s, lambda: False):
                    samples += len(chunk.samples)
                took_s = clock.now() - started_s
                self._real_time_factor = took_s * config.sample_rate_hz / samples
        except RemoteError as error:
            if error.final:
                raise TtsError(str(error)) from error
            log.warning("The voice could not be warmed up: %s", error)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        if self._sockets is not None:
            self._sockets.close()
        self._remote.close()

    def _fields(self, voice: str, language: str | None, instructions: str) -> dict[str, object]:
        """What a request says beside its text."""
        config = self._config
        fields: dict[str, object] = {
            "model": config.model,
            "voice": config.voice_names.get(voice, voice),
            "response_format": config.format,
        }
        if instructions:
            fields["instructions"] = instructions
        name = config.language_names.get(language or "")
        if config.dialect == "vllm-omni" or config.socket:
            name = name or wire_name(language)
            fields |= {"stream_audio": True} if config.socket else {"stream_format": "audio"}
        if name is not None:
            fields["language"] = name
        return fields

    def _sound(
        self, text: str, fields: Mapping[str, object], busy_s: float, stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        """
        Raises:
            RemoteError: the server is not there, too slow, failed, or sent no sound.
        """
        config = self._config
        waits = Waits(
            config.first_audio_timeout_s, config.gap_timeout_s, config.total_timeout_s, busy_s
        )
        resamplers: dict[int, Resampler] = {}
        with closing(self._sounds(text, fields, waits, stop)) as sounds:
            while not stop():
                sound = next(sounds, None)
                if sound is None or stop():
                    break
                if sound.rate_hz not in resamplers:
                    resamplers[sound.rate_hz] = Resampler(sound.rate_hz, config.sample_rate_hz)
                samples = resamplers[sound.rate_hz].push(sound.samples)
                if len(samples):
                    yield AudioChunk(samples)
        for resampler in resamplers.values():
            rest = resampler.flush()
            if len(rest) and not stop():
                yield AudioChunk(rest)

    def _sounds(
        self, text: str, fields: Mapping[str, object], waits: Waits, stop: Callable[[], bool]
    ) -> Generator[Sound, None, None]:
        """What comes, over a socket or as the body of an answer."""
        if self._sockets is not None:
            whole = {**fields, **self._config.extra_body}
            told = {key: value for key, value in whole.items() if value is not None}
            yield from self._sockets.speak(told, text, waits, stop)
            return
        own = ("model", "voice", "response_format")
        others = {key: value for key, value in fields.items() if key not in own}
        with self._remote.ask(
            lambda client, headers: client.audio.speech.with_streaming_response.create(
                model=str(fields["model"]),
                voice=str(fields["voice"]),
                input=text,
                response_format=self._config.format,
                extra_body={**others, **self._config.extra_body},
                extra_headers=headers,
            ),
            waits,
            stop,
        ) as reply:
            yield from read_sound(
                reply,
                url=self._remote.url,
                content_type=reply.content_type,
                pcm_hz=self._config.sample_rate_hz,
            )


def _sockets(config: OpenAiSpeechConfig, remote: Remote) -> SpeechSockets:
    """What speaks over a WebSocket. Raises RemoteError for settings that do not go together."""
    from s2s.tts.backends.openai_socket import SpeechSockets

    if config.format != "pcm":
        raise RemoteError(f"tts.socket streams pcm, not {config.format}: set tts.format to pcm")
    return SpeechSockets(remote.url, remote.headers, config.sample_rate_hz)
