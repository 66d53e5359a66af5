"""Qwen3-TTS as a text-to-speech backend: a thin adapter around the engine."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from s2s.core.work import Compute, Work
from s2s.models.resources import Resources
from s2s.system.cpu import cores
from s2s.tts.backends.qwen3.sound import WARM_TEXT, reported, sounded
from s2s.tts.base import AudioChunk, Capabilities, TtsError, WrittenText
from s2s.tts.passage import Begun
from s2s.tts.qwen3 import Kind, Qwen3Error, Request, ScheduleConfig, check_request, segments
from s2s.tts.qwen3_config import LANGUAGES, Qwen3Config, check_voice, full_name, needs_a_voice
from s2s.tts.speech_time import token_budget

if TYPE_CHECKING:
    from s2s.tts.qwen3 import (
        Costs,
        Generation,
        LoadWatch,
        Measurement,
        Observed,
        Qwen3Model,
        Reference,
        Report,
    )

__all__ = ["LANGUAGES", "Qwen3", "Qwen3Config", "full_name"]

log = logging.getLogger(__name__)

DEFAULT_SPEAKER = "aiden"
"""As speech-to-speech has it (seed 002, section 7)."""

_MOST_THREADS = 4
_AHEAD_S = 2.0


class Qwen3:
    """Speaks with one Qwen3-TTS model. Calls may come from several threads."""

    def __init__(self, config: Qwen3Config, resources: Resources) -> None:
        """Open the model; the first time it is also fetched and converted.

        Raises:
            TtsError: the model or its voice can't be had; says what is missing and what to do. A
                voice that cannot be spoken with is said before anything is fetched or loaded.
        """
        from s2s.tts.qwen3 import LoadWatch  # much: not for --help

        self._config = config
        self._compute: Compute = resources.compute
        self._schedule = config.server_schedule() or ScheduleConfig()
        self._measured: Measurement | None = None
        self._observed: Observed | None = None
        self._lock = threading.Lock()
        self._references: dict[str, Reference] = {}
        self._loading: LoadWatch = LoadWatch(lambda: True)
        model = _open(config, resources)
        self._model: Qwen3Model | None = model
        if config.instruct and not model.spec.takes_instruction:
            ignored = "%s ignores instructions: %r has no effect; take --model 1.7b"
            log.warning(ignored, config.model, config.instruct)
        if config.codec_left_context_frames is not None:
            log.warning(
                "codec_left_context_frames %d has no effect: the decoder keeps its state",
                config.codec_left_context_frames,
            )
        self.request("Hello.", config.voice, config.language)

    @property
    def capabilities(self) -> Capabilities:
        model = self.model
        known = [code for code, name in LANGUAGES.items() if name in model.spec.languages]
        first, streaming = self._config.language, self._config.streaming_text
        if first in known:
            known.sort(key=lambda code: code != first)
        return Capabilities(
            sample_rate_hz=model.sample_rate_hz,
            streaming=True,
            languages=tuple(known),
            voices=model.voices,
            cloning=model.spec.kind is Kind.BASE,
            threads=self._threads(model),
            reads_first=not (model.spec.kind is Kind.BASE if streaming is None else streaming),
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
        yield from self.synthesize_instructed(text, "", voice=voice, language=language, stop=stop)

    @property
    def takes_instructions(self) -> bool:
        """The 1.7b models do, but for clones."""
        return self.model.spec.takes_instruction

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `s2s.tts.base.InstructedSynthesizer`; behind what is configured."""
        for segment in segments(text):
            if stop():
                return
            request = self.request(segment, voice or self._config.voice, language)
            told = " ".join(filter(None, (request.instruction, instructions))) or None
            request = replace(request, instruction=told)
            yield from self._speak(request, self.generation(segment), stop)

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        """Where the layout has the text alongside the sound: clones from the vector alone, as the
        official package speaks them, and trained speakers and designed voices if set so."""
        del language  # of no matter
        model, streaming = self.model, self._config.streaming_text
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
        request = self.request(Begun(begin, text), voice or self._config.voice, language)
        yield from self._speak(request, self.fed_generation, stop)

    @property
    def fed_generation(self) -> Generation:
        """The checkpoint's settings for a text whose length is not known when it begins."""
        settings = self.model.spec.generation
        most = min(self._config.max_new_tokens, settings.max_new_tokens)
        return replace(settings, max_new_tokens=most)

    def generation(self, text: str) -> Generation:
        """The checkpoint's settings with the budget of a text; a text that the configured maximum
        may cut is warned of."""
        settings = self.model.spec.generation
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

    @property
    def schedule(self) -> ScheduleConfig:
        """In what chunks the next utterance is decoded: as set, or by what was measured here."""
        return self._schedule

    @property
    def usual_voice(self) -> str | None:
        """The configured one."""
        return self._config.voice

    @property
    def description(self) -> str:
        """Model, quantisation and backend, with a codec that is on an accelerator; and why another
        quantisation or place than was asked for."""
        model = self.model
        codec, instead = model.parts.codec, model.choice.cores.instead
        how = [model.placement]
        how += [f"codec {codec}"] if "@" in codec else []
        how += [instead] if instead else []
        return f"qwen3 {self._config.model} {model.quant} ({', '.join([*how, *model.remarks])})"

    @property
    def real_time_factor(self) -> float:
        """Work over sound, as measured on this machine; 0 before `warm`."""
        measured = self._measured
        return 0.0 if measured is None else measured.speed.real_time * self._config.speed

    def pace(self, language: str | None = None) -> float:
        """Work over sound now, no better than cores allow that others leave; 0 before `warm`."""
        del language
        observed = self._observed
        if observed is None or self._measured is None:
            return 0.0
        speed = self._measured.speed
        left = self._compute.threads(Work.HEARING, speed.threads)  # nothing of ours is before that
        return self._config.speed * max(observed.now.rtf, speed.rtf * speed.threads / left)

    @property
    def measured_how(self) -> str:
        """When that was measured, and what else computed; "" before `warm`."""
        measured = self._measured
        if measured is None:
            return ""
        again = "" if measured.kept else ", so it is measured again at the next start"
        return f"{measured.speed.conditions}{again}"

    def warm(self) -> None:
        """Speak, unheard, and choose core, threads and chunks by how fast that goes; the first time
        on this machine some seconds, later a fraction of one."""
        self.measure(afresh=False)

    def measure(self, *, afresh: bool = True) -> Measurement:
        """How fast it is, as kept from before or, ``afresh``, measured now. For when nothing else
        of this program computes."""
        from s2s.tts.qwen3 import LoadWatch, Observed, calibrate_model

        model = self.model
        request = self.request(WARM_TEXT, self._config.voice, self._config.language)
        draft_tokens = self._config.draft_tokens
        if draft_tokens is None and self._config.seed is not None:
            draft_tokens = 0
        found = calibrate_model(
            model,
            request,
            draft_tokens,
            LoadWatch(lambda: self._compute.computing() == 0),
            before=self._loading.conditions(),
            afresh=afresh,
        )
        self._measured = found
        self._observed = Observed(found.speed)
        self._schedule = self._planned(found.speed.costs)
        log.info("%s: %.2f of real time, %s", self.description, self.real_time_factor, found.speed)
        return found

    def close(self) -> None:
        """Free the model, and keep what its utterances showed of this machine. Idempotent."""
        with self._lock:
            model, self._model = self._model, None
        if model is None:
            return
        if self._observed is not None and self._measured is not None and self._measured.kept:
            from s2s.tts.qwen3 import keep_observed

            keep_observed(model, self._measured.key, self._observed)
        model.close()

    def move(
        self, *, talker: str | None = None, predictor: str | None = None, codec: str | None = None
    ) -> None:
        """From the next utterance on, compute a part elsewhere; see `Qwen3Model.move`.

        Raises:
            TtsError: it cannot be had there; all stays as it is.
        """
        try:
            self.model.move(talker=talker, predictor=predictor, codec=codec)
        except Qwen3Error as error:
            raise TtsError(f"qwen3: {error}") from error

    def _speak(
        self, request: Request, generation: Generation, stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        from s2s.tts.qwen3 import LoadWatch

        model = self.model
        seed = secrets.randbits(32) if self._config.seed is None else self._config.seed
        own = self._threads(model)
        watch = LoadWatch(lambda: self._compute.computing() <= own)
        speech = model.speak(
            request, seed=seed, schedule=self._schedule, generation=generation, stale=stop
        )
        yield from sounded(speech, model.sample_rate_hz, self._config, stop, watch.look)
        self._note(speech.report, watch)
        yield reported(speech)

    def _note(self, report: Report, watch: LoadWatch) -> None:
        """What the utterance cost moves the schedule of the next one."""
        with self._lock:
            observed = self._observed
            if observed is None:
                return
            observed.add(report.spent, watch.conditions())
            self._schedule = self._planned(observed.now.costs)

    def _planned(self, costs: Costs) -> ScheduleConfig:
        from s2s.tts.qwen3 import edge_schedule

        return self._config.server_schedule() or edge_schedule(costs, self._config.speed)

    def _threads(self, model: Qwen3Model) -> int:
        """Threads that compute the language model."""
        return model.threads if self._measured is None else self._measured.speed.threads

    def request(self, text: str | WrittenText, voice: str | None, language: str | None) -> Request:
        """The engine's request. Raises TtsError for a voice or language there is not."""
        model, config = self.model, self._config
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
                speakers = model.spec.speakers
                usual = DEFAULT_SPEAKER if DEFAULT_SPEAKER in speakers else min(speakers)
                request = replace(request, speaker=voice or usual)
            case Kind.VOICE_DESIGN:
                pass
        try:
            check_request(request, model.spec)
        except Qwen3Error as error:
            raise TtsError(f"qwen3: {error}") from error
        return request

    def _reference(self, model: Qwen3Model, voice: str | None) -> Reference:
        if voice is None:
            raise TtsError(needs_a_voice(self._config.model, model.voices))
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

    @property
    def model(self) -> Qwen3Model:
        """The model. Raises TtsError once it is closed."""
        with self._lock:
            if self._model is None:
                raise TtsError("qwen3 was used after it was closed.")
            return self._model


def _open(config: Qwen3Config, resources: Resources) -> Qwen3Model:
    from s2s.tts.qwen3 import CONVERTED_FOLDER, DevicePlacements, enrolled_voices, open_model

    home, progress = resources.store.root, resources.store.progress
    resources.store.uses(home / CONVERTED_FOLDER)
    enrolled = [entry.name for entry in enrolled_voices(home)]
    wanted = config.voice
    name = full_name(config.model, wanted in enrolled, config.instruct is not None and not wanted)
    check_voice(config, name, home, enrolled)
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
            progress=lambda what, done, total: progress(  # a step says itself what it does
                what if " " in what else f"converting {what}", done, total
            ),
        )
    except (Qwen3Error, OSError) as error:
        raise TtsError(f"qwen3: {error}") from error
