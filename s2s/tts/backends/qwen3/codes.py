"""Qwen3-TTS as a `CodecSource`: its codes go to a decoder elsewhere, in place of sound."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace

from s2s.core.arrays import Ids
from s2s.tts.backends.qwen3.languages import LANGUAGES
from s2s.tts.base import TtsError
from s2s.tts.codec_stream.source import CodecFormat, SpeechEnd, SpeechFrame, SpeechWish
from s2s.tts.qwen3 import Frame, Qwen3Error, Stop, codec_format
from s2s.tts.qwen3_adapter import Qwen3

_CODES = {name: code for code, name in LANGUAGES.items()}


class Qwen3Codes:
    """The codes of a voice that is loaded. Calls may come from several threads."""

    def __init__(self, voice: Qwen3) -> None:
        self._voice = voice
        model = voice.model
        folder = model.folder / "speech_tokenizer"
        self._format = codec_format(model.parts.decoder, model.sample_rate_hz, folder)

    @property
    def codec_format(self) -> CodecFormat:
        return self._format

    @property
    def model(self) -> str:
        """Which model, and how it is quantised."""
        model = self._voice.model
        return f"qwen3-tts-{model.spec.size}-{model.spec.kind.value} {model.quant}"

    @property
    def voices(self) -> tuple[str, ...]:
        return self._voice.capabilities.voices

    @property
    def languages(self) -> tuple[str, ...]:
        return self._voice.capabilities.languages

    @property
    def threads(self) -> int:
        return self._voice.capabilities.threads

    def reference_codes(self, voice: str | None) -> Ids | None:
        """See `CodecSource`."""
        reference = self._voice.request("Hello.", voice or self._voice.usual_voice, None).reference
        return None if reference is None else reference.codes

    def takes_words(self, voice: str | None) -> bool:
        """See `CodecSource`."""
        return self._voice.takes_words(voice)

    def codec_frames(
        self, wish: SpeechWish, stop: Callable[[], bool]
    ) -> Generator[SpeechFrame | SpeechEnd, None, None]:
        """See `CodecSource`."""
        name = (wish.language or "auto").lower()
        language = None if name == "auto" else _CODES.get(name, name)
        if language is not None and language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            raise TtsError(f"qwen3: no language {wish.language!r}; known: {known}")
        voice = self._voice
        request = voice.request(wish.text, wish.voice or voice.usual_voice, language)
        told = " ".join(filter(None, (request.instruction, wish.instructions))) or None
        whole = wish.text if isinstance(wish.text, str) else None
        generation = voice.fed_generation if whole is None else voice.generation(whole)
        if wish.max_new_tokens is not None:
            most = min(generation.max_new_tokens, max(2, wish.max_new_tokens))
            generation = replace(generation, max_new_tokens=most)
        try:
            stream = voice.model.frames(
                replace(request, instruction=told),
                seed=secrets.randbits(32) if wish.seed is None else wish.seed,
                attempt=wish.attempt,
                generation=generation,
                stale=stop,
            )
            with closing(stream.items) as items:
                for item in items:
                    match item:
                        case Frame(codes=codes, text_late=text_late):
                            yield SpeechFrame(codes, text_late)
                        case Stop(reason=reason, frames=frames):
                            yield SpeechEnd(reason.name.lower(), frames)
        except Qwen3Error as error:
            raise TtsError(f"qwen3: {error}") from error
