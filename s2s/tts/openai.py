"""Any server that speaks OpenAI's `/audio/speech` and streams PCM: speaches, Kokoro-FastAPI, vLLM,
OpenAI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import Block, from_int16
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.system.remote import Deadline, Endpoint, Remote, RemoteError, Request, stalled
from s2s.tts.base import AudioChunk, Capabilities, TtsError


@dataclass(frozen=True, slots=True)
class OpenAiSpeechConfig:
    """Options of text to speech on a server."""

    base_url: str = setting(
        "http://127.0.0.1:8880/v1", "Address of the API, up to and with its version."
    )
    model: str = setting("tts-1", "Name of the model on the server.")
    voice: str = setting("alloy", "Voice to speak with.")
    voices: tuple[str, ...] = setting((), "Other voices a caller may choose.")
    languages: tuple[str, ...] = setting(("en",), "Languages the voices speak, as ISO 639-1 codes.")
    sample_rate_hz: int = setting(24_000, "Rate of the server's PCM.")
    api_key_env: str | None = setting(
        None,
        "Environment variable with the key; none: OPENAI_API_KEY for api.openai.com, else no key.",
    )
    connect_timeout_s: float = setting(5.0, "Longest wait for a connection.")
    first_audio_timeout_s: float = setting(20.0, "Longest wait for the first sound of a text.")
    gap_timeout_s: float = setting(10.0, "Longest wait between two pieces of sound.")
    total_timeout_s: float = setting(300.0, "Longest time for one text.")


class OpenAiSpeech:
    """Speaks by asking a server. Calls may come from several threads."""

    def __init__(self, config: OpenAiSpeechConfig, resources: Resources) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            TtsError: the address is none, or the key's variable is not set.
        """
        del resources
        self._config = config
        try:
            self._remote = Remote(
                Endpoint(
                    config.base_url,
                    config.api_key_env,
                    config.connect_timeout_s,
                    config.first_audio_timeout_s,
                    config.gap_timeout_s,
                )
            )
        except RemoteError as error:
            raise TtsError(str(error)) from error

    @property
    def capabilities(self) -> Capabilities:
        config = self._config
        return Capabilities(
            sample_rate_hz=config.sample_rate_hz,
            streaming=True,
            languages=config.languages,
            voices=tuple(dict.fromkeys((config.voice, *config.voices))),
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound as it arrives; see `s2s.tts.base.Synthesizer`."""
        del language
        config = self._config
        voice = voice or config.voice
        if voice not in self.capabilities.voices:
            raise TtsError(
                f"no voice {voice!r}; there are {', '.join(self.capabilities.voices)}. "
                "Add it to tts.openai.voices."
            )
        if not any(character.isalnum() for character in text):
            return
        body = {"model": config.model, "voice": voice, "input": text, "response_format": "pcm"}
        late = Deadline(config.total_timeout_s)
        stream = self._remote.stream(Request("/audio/speech", json=body), stop)
        try:
            for samples in pcm_blocks(stream):
                if late.passed:
                    raise stalled(config.base_url, late.wait_s)
                if stop():
                    return
                yield AudioChunk(samples)
        except RemoteError as error:
            raise TtsError(str(error)) from error
        finally:
            stream.close()

    def warm(self) -> None:
        """Have a word spoken, unheard, so that the server loads the model."""
        for _ in self.synthesize("Hello."):
            pass

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._remote.close()


def pcm_blocks(chunks: Iterator[bytes]) -> Iterator[Block]:
    """Little-endian 16-bit PCM in chunks of any size as float32 [samples]; none is empty.

    A last odd byte is no sample and is dropped.
    """
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        whole = len(data) - len(data) % 2
        rest = data[whole:]
        if whole:
            yield from_int16(np.frombuffer(data[:whole], dtype="<i2").astype(np.int16))
