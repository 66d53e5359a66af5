"""Qwen3-TTS with its language model on a server: its codes become sound here. A thin adapter around
`RemoteModel`.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from s2s.models.resources import Resources
from s2s.system.cpu import cores
from s2s.tts.backends.qwen3.languages import LANGUAGES, wire_name
from s2s.tts.backends.qwen3.sound import WARM_TEXT, reported, sounded
from s2s.tts.base import AudioChunk, Capabilities, TtsError, WrittenText
from s2s.tts.codec_stream.source import SpeechWish
from s2s.tts.passage import Begun
from s2s.tts.qwen3 import Qwen3Error, ScheduleConfig, edge_schedule, segments
from s2s.tts.qwen3_config import Qwen3Config, full_name
from s2s.tts.speech_time import MAX_NEW_TOKENS

if TYPE_CHECKING:
    from s2s.tts.qwen3 import RemoteModel, Speech

log = logging.getLogger(__name__)

NEEDED = ("websockets", "pydantic")
"""Modules of the extra `remote`."""
_MOST_THREADS = 2
"""Of the decoder: more make it little faster."""
_AHEAD_S = 2.0


class HybridQwen3:
    """Speaks with one server. Calls may come from several threads."""

    def __init__(self, config: Qwen3Config, resources: Resources) -> None:
        """Open the codec, which is fetched the first time. Nothing is connected yet.

        Raises:
            TtsError: the codec can't be had, or the server's address is none.
        """
        self._config = config
        self._schedule = config.server_schedule() or ScheduleConfig()
        self._threads = config.threads or min(_MOST_THREADS, cores())
        self._real_time_factor = 0.0
        self._model: RemoteModel | None = _open(config, resources, self._threads)

    @property
    def capabilities(self) -> Capabilities:
        """Voices and languages are the server's, as far as `warm` has learned them."""
        model, config = self._loaded(), self._config
        told = model.told
        languages = list(told.languages or LANGUAGES)
        if config.language in languages:
            languages.sort(key=lambda code: code != config.language)
        own = (config.voice,) if config.voice else ()
        return Capabilities(
            sample_rate_hz=model.sample_rate_hz,
            streaming=True,
            languages=tuple(languages),
            voices=told.voices or own,
            threads=self._threads,
            reads_first=True,
            ahead_s=_AHEAD_S,
        )

    @property
    def description(self) -> str:
        """Where the codes come from, and what decodes them."""
        model = self._loaded()
        name = f" ({model.told.model})" if model.told.model else ""
        return f"qwen3 at {model.language.server.url}{name}, decoded by {model.codec}"

    @property
    def real_time_factor(self) -> float:
        """Seconds until a second of speech has come and is decoded; 0 before `warm`."""
        return self._real_time_factor * self._config.speed

    @property
    def measured_how(self) -> str:
        """It is measured at every start."""
        return ""

    @property
    def schedule(self) -> ScheduleConfig:
        """In what chunks the next utterance is decoded."""
        return self._schedule

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`."""
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
        """See `s2s.tts.base.InstructedSynthesizer`. Where the server is lost, what came is given
        before the error."""
        told = " ".join(filter(None, (self._config.instruct, instructions)))
        for segment in segments(text):
            if stop():
                return
            yield from self._spoken(self._wish(segment, told, voice, language), stop)

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        """Where the server told that it does with this voice, and nothing here is set against
        it."""
        del language  # of no matter
        config = self._config
        return config.streaming_text is not False and self._loaded().takes_words(
            voice or config.voice
        )

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text` while it is written; see `s2s.tts.base.FedSynthesizer`."""
        try:
            begin = text.read(stop)
            if begin:  # else it was stopped, or there is nothing to say
                told = self._config.instruct or ""
                wish = self._wish(Begun(begin, text), told, voice, language)
                yield from self._spoken(wish, stop)
        finally:
            text.close()

    def _spoken(self, wish: SpeechWish, stop: Callable[[], bool]) -> Iterator[AudioChunk]:
        model = self._loaded()
        speech = model.speak(wish, schedule=self._schedule, stale=stop)
        try:
            yield from sounded(speech, model.sample_rate_hz, self._config, stop, lambda: None)
        except Qwen3Error as error:
            yield reported(speech)
            raise TtsError(f"qwen3: {error}") from error
        yield reported(speech)

    def warm(self) -> None:
        """Have a sentence spoken, unheard: to see that all of it works, what voices there are, and
        how fast sound comes.

        Raises:
            TtsError: the server cannot be had.
        """
        config, model = self._config, self._loaded()
        speech: Speech | None = None
        try:
            for _ in range(2):  # the first is slower than all others
                wish = self._wish(WARM_TEXT, config.instruct or "", None, None)
                speech = model.speak(wish, about=True)
                for _ in speech.chunks:
                    pass
        except Qwen3Error as error:
            raise TtsError(f"qwen3: {error}") from error
        if speech is None or not speech.report.audio_s:
            return
        report = speech.report
        self._real_time_factor = report.chunk_at_s[-1] / report.audio_s
        costs = report.costs(overlapped=True)
        self._schedule = config.server_schedule() or edge_schedule(costs, config.speed)
        log.info("%s: %.2f of real time", self.description, self.real_time_factor)

    def close(self) -> None:
        """End the connections. Idempotent."""
        model, self._model = self._model, None
        if model is not None:
            model.close()

    def _wish(
        self,
        text: str | WrittenText,
        instructions: str,
        voice: str | None,
        language: str | None,
    ) -> SpeechWish:
        config = self._config
        code = language or config.language
        most = None if config.max_new_tokens == MAX_NEW_TOKENS else config.max_new_tokens
        return SpeechWish(
            text,
            voice or config.voice,
            wire_name(code),
            instructions,
            secrets.randbits(32) if config.seed is None else config.seed,
            max_new_tokens=most,
        )

    def _loaded(self) -> RemoteModel:
        if self._model is None:
            raise TtsError("qwen3 was used after it was closed.")
        return self._model


def _open(config: Qwen3Config, resources: Resources, threads: int) -> RemoteModel:
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise TtsError(
            f"tts.language_model needs {', '.join(lacking)}. Install it: pip install 's2s[remote]'"
        )
    from s2s.tts.qwen3 import RemoteServer, open_remote_model

    key = os.environ.get(config.language_model_key_env, "").strip()
    server = RemoteServer(config.language_model or "", key, config.language_model_name)
    try:
        return open_remote_model(
            full_name(config.model, False, False),
            resources.store.root,
            server,
            codec=config.codec,
            threads=threads,
        )
    except (Qwen3Error, OSError) as error:
        raise TtsError(f"qwen3: {error}") from error
