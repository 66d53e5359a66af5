"""Qwen3-TTS as a text-to-speech backend: a thin adapter around the engine."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.system.cpu import cores
from s2s.tts.base import AudioChunk, Capabilities, TtsError, WrittenText
from s2s.tts.passage import Begun
from s2s.tts.qwen3 import Kind, Qwen3Error, Request, ScheduleConfig, check_request, segments
from s2s.tts.speech_time import MAX_NEW_TOKENS, token_budget

if TYPE_CHECKING:
    from s2s.tts.qwen3 import Generation, Qwen3Model, Reference, Speed

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
_AHEAD_S = 2.0
_DEFAULT_SPEAKER = "ryan"
_WARM_TEXT = "Hello, this is a test."


@dataclass(frozen=True, slots=True)
class Qwen3Config:
    """Options of Qwen3-TTS."""

    model: str = setting(
        "0.6b",
        "0.6b, 1.7b (the kind follows from voice and instruct), a published name such as "
        "1.7b-customvoice, a hub id, or a folder.",
    )
    quant: str = setting(
        "q4_k_m",
        "Of the talker: q4_k_m, q5_k_m, q6_k, q8_0, bf16, f32; or int4, int4-128, int8 for onnx.",
    )
    predictor_quant: str | None = setting(
        None, "Of the code predictor; None is eight bits, or better where quant is better."
    )
    voice: str | None = setting(
        None, "A trained speaker (ryan, vivian, ...) or an enrolled voice (see `voices add`)."
    )
    language: str | None = setting(None, "ISO 639-1 code; None follows the conversation.")
    instruct: str | None = setting(
        None, "How to speak, or what voice to speak with. The 0.6b models ignore it."
    )
    streaming_text: bool | None = setting(
        None,
        "The text enters along with the sound, each word as it is written, instead of all of it "
        "before; None is as the model's authors do it.",
    )
    seed: int | None = setting(
        None, "The same text then always gives the same samples; None varies, as people do."
    )
    threads: int | None = setting(None, "None takes up to four, or fewer if that is faster here.")
    core: str = setting(
        "auto",
        "What computes the language model: native (needs a C compiler), onnx, ggml, ggml@gpu;"
        " auto is the fastest that is installed, by measurement.",
    )
    talker: str | None = setting(None, "Another core for the talker alone.")
    predictor: str | None = setting(None, "Another core for the code predictor alone.")
    codec: str = setting(
        "auto",
        "Where codes become sound: native (needs a C compiler), onnx, or onnx on an accelerator by "
        "its name there, such as onnx@cuda or onnx@coreml; auto is the faster of the first two, "
        "by measurement.",
    )
    draft_tokens: int | None = setting(
        None,
        "Codes drafted for each forward pass of the code predictor, which verifies them: other "
        "random numbers, the same distribution. None is what is fastest here, by measurement, "
        "and 0 where there is a seed.",
        formerly=("guesses",),
    )
    max_new_tokens: int = setting(
        MAX_NEW_TOKENS,
        "The most codec tokens (80 ms each) that a piece of text of up to 300 characters may take; "
        "most texts get fewer, by their length.",
    )
    initial_codec_chunk_frames: int | None = setting(
        None,
        "Frames of the first chunk, as vLLM-Omni's server does it: 1 there, 0 lets the load "
        "choose. Once this or one of the next three is given, chunks go by them and the server's "
        "defaults; else by what a frame costs on this machine.",
    )
    codec_chunk_frames: int | None = setting(
        None, "Frames of every later chunk, as the server does it: 25 there."
    )
    codec_chunk_ramp: tuple[int, ...] = setting(
        (),
        "Frames of the first chunks, as the server does it, such as 2,4,8,16; then "
        "codec_chunk_frames. Overrides the first one.",
    )
    codec_chunk_adaptive: bool | None = setting(
        None,
        "Chunks grow up to codec_chunk_frames with the sound that is unplayed, as the server does "
        "it. Overrides the first ones.",
    )
    codec_left_context_frames: int | None = setting(
        None,
        "Read so that a server's settings can be used as they are, without effect: the decoder "
        "keeps its state here and decodes no frame twice.",
    )

    def __post_init__(self) -> None:
        if self.max_new_tokens < 2:
            raise ValueError(
                f"max_new_tokens is {self.max_new_tokens}: at least 2, for a frame and the end"
            )
        self.server_schedule()  # a bad one is said now

    def server_schedule(self) -> ScheduleConfig | None:
        """The chunks as vLLM-Omni's server would cut them; None where none of its settings is
        given. Raises ValueError for sizes that cannot be."""
        first, steady = self.initial_codec_chunk_frames, self.codec_chunk_frames
        ramp, adaptive = self.codec_chunk_ramp, self.codec_chunk_adaptive
        if first is None and steady is None and not ramp and adaptive is None:
            return None
        server = ScheduleConfig()
        return ScheduleConfig(
            initial_codec_chunk_frames=(
                server.initial_codec_chunk_frames if first is None else first
            ),
            codec_chunk_frames=server.codec_chunk_frames if steady is None else steady,
            codec_chunk_ramp=ramp,
            codec_chunk_adaptive=bool(adaptive),
        )


class Qwen3:
    """Speaks with one Qwen3-TTS model. Calls may come from several threads."""

    def __init__(self, config: Qwen3Config, resources: Resources) -> None:
        """Open the model; the first time it is also fetched and converted.

        Raises:
            TtsError: the model or its voice can't be had; says what is missing and what to do.
        """
        self._config = config
        self._schedule = config.server_schedule() or ScheduleConfig()
        self._speed: Speed | None = None
        self._lock = threading.Lock()
        self._references: dict[str, Reference] = {}
        model = _open(config, resources)
        self._model: Qwen3Model | None = model
        if config.instruct and not model.spec.takes_instruction:
            log.warning("%s ignores instructions: %r has no effect", config.model, config.instruct)
        if config.codec_left_context_frames is not None:
            log.warning(
                "codec_left_context_frames %d has no effect: the decoder keeps its state",
                config.codec_left_context_frames,
            )
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
            threads=model.threads if self._speed is None else self._speed.threads,
            ahead_s=_AHEAD_S,
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
        for segment in segments(text):
            if stop():
                return
            request = self._request(segment, voice or self._config.voice, language)
            yield from self._speak(request, self._generation(segment), stop)

    def takes_words(self, voice: str | None = None) -> bool:
        """Where the layout has the text alongside the sound: clones from the vector alone, as the
        official package speaks them, and trained speakers and designed voices if set so."""
        model, streaming = self._loaded(), self._config.streaming_text
        if model.spec.kind is not Kind.BASE:
            return bool(streaming)
        reference = self._reference(model, voice or self._config.voice)
        return streaming is not False and not reference.in_context

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text` while it is written; see `s2s.tts.base.FedSynthesizer`."""
        begin = text.read(stop)
        if not begin:
            text.close()  # stopped, or nothing to say
            return
        request = self._request(Begun(begin, text), voice or self._config.voice, language)
        settings = self._loaded().spec.generation
        most = min(self._config.max_new_tokens, settings.max_new_tokens)
        yield from self._speak(request, replace(settings, max_new_tokens=most), stop)

    @property
    def description(self) -> str:
        """Model, quantisation and backend."""
        model = self._loaded()
        return f"qwen3 {self._config.model} {model.quant} ({model.placement})"

    @property
    def real_time_factor(self) -> float:
        """Work over sound, as measured on this machine; 0 before `warm`."""
        return 0.0 if self._speed is None else self._speed.real_time

    def warm(self) -> None:
        """Speak, unheard, and choose threads and chunks by how fast that goes; the first time on
        this machine a few seconds, later a fraction of one."""
        model = self._loaded()
        request = self._request(_WARM_TEXT, self._config.voice, self._config.language)

        draft_tokens = self._config.draft_tokens
        if draft_tokens is None and self._config.seed is not None:
            draft_tokens = 0
        speed = model.calibrate(request, draft_tokens)
        self._speed = speed
        self._schedule = self._config.server_schedule() or speed.schedule
        log.info("%s: %.2f of real time here", self.description, speed.real_time)

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            model, self._model = self._model, None
        if model is not None:
            model.close()

    def _generation(self, text: str) -> Generation:
        """The checkpoint's settings with the budget of a text; a text that the configured maximum
        may cut is warned of."""
        settings = self._loaded().spec.generation
        # Not the measured schedule: the same seed then speaks as long on every machine.
        schedule = self._config.server_schedule() or ScheduleConfig()
        budget = token_budget(
            text,
            chunk_frames=schedule.codec_chunk_frames,
            max_new_tokens=min(self._config.max_new_tokens, settings.max_new_tokens),
        )
        if budget.is_cut:
            log.warning(
                "qwen3: %d characters may take up to %d codec tokens and are cut at %d; raise "
                "tts.max_new_tokens to be sure to hear all of them",
                len(text),
                budget.wanted_tokens,
                budget.tokens,
            )
        return replace(settings, max_new_tokens=budget.tokens)

    def _speak(
        self, request: Request, generation: Generation, stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        model = self._loaded()
        seed = secrets.randbits(32) if self._config.seed is None else self._config.seed
        speech = model.speak(
            request, seed=seed, schedule=self._schedule, generation=generation, stale=stop
        )
        try:
            for chunk in speech.chunks:
                yield AudioChunk(chunk.pcm)
        finally:
            speech.close()
        segment = speech.report.segment
        log.debug("qwen3: %s: %s", segment.stop_reason, segment.measures)
        yield AudioChunk(np.zeros(0, np.float32), report=segment)

    def _request(self, text: str | WrittenText, voice: str | None, language: str | None) -> Request:
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
        except Qwen3Error as error:
            raise TtsError(f"qwen3: {error}") from error
        return request

    def _reference(self, model: Qwen3Model, voice: str | None) -> Reference:
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
        except Qwen3Error as error:
            raise TtsError(f"qwen3: {error}") from error
        with self._lock:
            self._references[voice] = reference
        return reference

    def _loaded(self) -> Qwen3Model:
        with self._lock:
            if self._model is None:
                raise TtsError("qwen3 was used after it was closed.")
            return self._model


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
    from s2s.tts.qwen3 import DevicePlacements, enrolled_voices, open_model  # much: not for --help

    home = resources.store.root
    enrolled = {entry.name for entry in enrolled_voices(home)}
    wanted = config.voice
    name = full_name(config.model, wanted in enrolled, config.instruct is not None and not wanted)
    try:
        return open_model(
            name,
            home,
            quant=config.quant,
            predictor_quant=config.predictor_quant,
            placement=DevicePlacements(
                talker=config.talker or config.core,
                predictor=config.predictor or config.core,
                codec=config.codec,
                draft_tokens=config.draft_tokens or 0,
            ),
            threads=config.threads or min(_MOST_THREADS, cores()),
        )
    except (Qwen3Error, OSError) as error:
        raise TtsError(f"qwen3: {error}") from error
