"""Qwen3-TTS as a text-to-speech backend: a thin adapter around the engine."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from s2s.runtime import Resources, cores
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.qwen3.passages import passages
from s2s.tts.qwen3.prompt import PromptError, Reference, Request, check_request
from s2s.tts.qwen3.schedule import FRAME_MS, ScheduleConfig, edge_schedule
from s2s.tts.qwen3.spec import Kind

if TYPE_CHECKING:
    from s2s.tts.qwen3.engine import Report
    from s2s.tts.qwen3.model import Qwen3Model

log = logging.getLogger(__name__)

LANGUAGES = {
    "en": "english",
    "zh": "chinese",
    "de": "german",
    "it": "italian",
    "pt": "portuguese",
    "es": "spanish",
    "ja": "japanese",
    "ko": "korean",
    "fr": "french",
    "ru": "russian",
}
"""ISO 639-1 code to the model's name of a language."""

_MOST_THREADS = 4
_DEFAULT_SPEAKER = "ryan"
_WARM_CHUNKS = (1, 1, 8)  # two sizes tell the price of a call of the decoder from that of a frame
_WARM_TEXT = "Hello, this is a test."


@dataclass(frozen=True, slots=True)
class Qwen3Config:
    """Options of Qwen3-TTS."""

    model: str = "0.6b"
    """0.6b, 1.7b (the kind follows from voice and instruct), a published name such as
    1.7b-customvoice, a hub id, or a folder."""
    quant: str = "q4_k_m"
    """Of the talker: f32, bf16, q8_0, q6_k, q5_k_m, q4_k_m."""
    predictor_quant: str | None = None
    """Of the code predictor; None is q8_0, or better where quant is better."""
    voice: str | None = None
    """A trained speaker (ryan, vivian, ...) or an enrolled voice (see `voices add`)."""
    language: str | None = None
    """ISO 639-1 code; None follows the conversation."""
    instruct: str | None = None
    """How to speak, or what voice to speak with. The 0.6b models ignore it."""
    streaming_text: bool | None = None
    """The text enters along with the sound instead of before it; None is as the model's authors
    do it."""
    seed: int | None = None
    """The same text then always gives the same samples; None varies, as people do."""
    threads: int | None = None
    """None takes up to four."""


class Qwen3:
    """Speaks with one Qwen3-TTS model. Calls may come from several threads."""

    def __init__(self, config: Qwen3Config, resources: Resources) -> None:
        """Open the model; the first time it is also fetched and converted.

        Raises:
            TtsError: the model or its voice can't be had; says what is missing and what to do.
        """
        self._config = config
        self._schedule = ScheduleConfig()
        self._lock = threading.Lock()
        self._references: dict[str, Reference] = {}
        model = _open(config, resources)
        self._model: Qwen3Model | None = model
        if config.instruct and not model.spec.takes_instruction:
            log.warning("%s ignores instructions: %r has no effect", config.model, config.instruct)
        self._request("Hello.", config.voice, config.language)

    @property
    def capabilities(self) -> Capabilities:
        model = self._loaded()
        known = [code for code, name in LANGUAGES.items() if name in model.spec.languages]
        first = self._config.language
        if first in known:
            known.sort(key=lambda code: code != first)
        return Capabilities(
            sample_rate_hz=model.sample_rate_hz,
            streaming=True,
            languages=tuple(known),
            voices=model.voices,
            cloning=model.spec.kind is Kind.BASE,
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`."""
        for passage in passages(text):
            if stop():
                return
            request = self._request(passage, voice or self._config.voice, language)
            yield from self._speak(request, stop)

    def warm(self) -> None:
        """Speak once, unheard, and choose the chunk schedule by how fast that went."""
        model = self._loaded()
        request = self._request(_WARM_TEXT, self._config.voice, self._config.language)
        self._unheard(model, request)  # the first run is slower than all others
        report = self._unheard(model, request)
        self._schedule = edge_schedule(report.costs())
        log.info("qwen3 %s needs %.2f of real time here", model.quant, frame_ms(report) / FRAME_MS)

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            model, self._model = self._model, None
        if model is not None:
            model.engine.close()

    def _unheard(self, model: Qwen3Model, request: Request) -> Report:
        schedule = ScheduleConfig(codec_chunk_ramp=_WARM_CHUNKS)
        speech = model.engine.speak(request, seed=0, schedule=schedule)
        for _ in speech.chunks:
            if speech.report.frames >= sum(_WARM_CHUNKS):
                break
        speech.close()
        return speech.report

    def _speak(self, request: Request, stop: Callable[[], bool]) -> Iterator[AudioChunk]:
        model = self._loaded()
        seed = secrets.randbits(32) if self._config.seed is None else self._config.seed
        speech = model.engine.speak(request, seed=seed, schedule=self._schedule, stale=stop)
        try:
            for chunk in speech.chunks:
                yield AudioChunk(chunk.pcm)
        finally:
            speech.close()
        passage = speech.report.passage
        log.debug("qwen3: %s: %s", passage.ending, passage.measures)
        yield AudioChunk(np.zeros(0, np.float32), report=passage)

    def _request(self, text: str, voice: str | None, language: str | None) -> Request:
        """The engine's request. Raises TtsError for a voice or language there is not."""
        model, config = self._loaded(), self._config
        code = language or config.language
        request = Request(
            text=text,
            language=LANGUAGES.get(code or ""),
            instruction=config.instruct,
            streaming=config.streaming_text,
        )
        match model.spec.kind:
            case Kind.BASE:
                request = replace(request, reference=self._reference(model, voice))
            case Kind.CUSTOM_VOICE:
                request = replace(request, speaker=voice or _DEFAULT_SPEAKER)
            case Kind.VOICE_DESIGN:
                pass
        try:
            check_request(request, model.spec)
        except PromptError as error:
            raise TtsError(f"qwen3: {error}") from error
        return request

    def _reference(self, model: Qwen3Model, voice: str | None) -> Reference:
        from s2s.tts.qwen3.voices import VoiceError

        if voice is None:
            known = ", ".join(model.voices) or "none yet"
            raise TtsError(
                f"qwen3: {self._config.model} clones voices and has none of its own. Choose one "
                f"with --voice (enrolled: {known}), or make one: python -m s2s voices add NAME "
                "--audio FILE --text TRANSCRIPT"
            )
        with self._lock:
            known_one = self._references.get(voice)
        if known_one is not None:
            return known_one
        try:
            reference = model.reference(voice)
        except VoiceError as error:
            raise TtsError(f"qwen3: {error}") from error
        with self._lock:
            self._references[voice] = reference
        return reference

    def _loaded(self) -> Qwen3Model:
        with self._lock:
            if self._model is None:
                raise TtsError("qwen3 was used after it was closed.")
            return self._model


def frame_ms(report: Report) -> float:
    """What a frame of an utterance took, in milliseconds: talker, predictor and decoder."""
    frames = max(sum(report.chunk_frames) + report.withheld_frames, 1)
    codec_s = sum(report.codec_s) / frames
    talker_s = median(report.talker_s) if report.talker_s else 0.0
    predictor_s = median(report.predictor_s) if report.predictor_s else 0.0
    return (talker_s + predictor_s + codec_s) * 1000


def full_name(model: str, enrolled: bool, instruct: bool) -> str:
    """What "0.6b" and "1.7b" stand for: the kind that the wanted voice needs."""
    if model.lower() not in {"0.6b", "1.7b"}:
        return model
    if enrolled:
        return f"{model}-base"
    return (
        f"{model}-voicedesign" if instruct and model.lower() == "1.7b" else f"{model}-customvoice"
    )


def _open(config: Qwen3Config, resources: Resources) -> Qwen3Model:
    from s2s.tts.qwen3.checkpoint import CheckpointError
    from s2s.tts.qwen3.codec_spec import CodecError
    from s2s.tts.qwen3.convert import ConvertError
    from s2s.tts.qwen3.gguf import GGUFError
    from s2s.tts.qwen3.hub import HubError
    from s2s.tts.qwen3.llama_library import LlamaError
    from s2s.tts.qwen3.model import VOICES_FOLDER, Qwen3Model
    from s2s.tts.qwen3.spec import SpecError
    from s2s.tts.qwen3.voices import list_voices

    home = resources.store.root
    enrolled = {entry.name for entry in list_voices(home / VOICES_FOLDER)}
    wanted = config.voice
    name = full_name(config.model, wanted in enrolled, config.instruct is not None and not wanted)
    known_errors = (
        CheckpointError, CodecError, ConvertError, GGUFError, HubError, LlamaError, SpecError,
        ValueError, OSError,
    )  # fmt: skip
    try:
        return Qwen3Model.open(
            name,
            home,
            quant=config.quant,
            predictor_quant=config.predictor_quant,
            threads=config.threads or min(_MOST_THREADS, cores()),
        )
    except known_errors as error:
        raise TtsError(f"qwen3: {error}") from error
