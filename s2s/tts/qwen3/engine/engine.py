"""Speech from a request: prompt, frames, chunks, sound. One engine for every backend.

Two loops make an utterance: ``decode_loop.frames`` gives frames and one stop, ``Sounding`` turns
them into chunks; what holds them together is here. Codes are decoded in the chunks a schedule asks
for, by a decoder that keeps its state, so nothing is ever decoded twice. Whether to stop is asked
before every talker step and every frame, before and after every decode; what is not given out by
then never is. Nothing is computed ahead of the reader, or no more than a given number of frames: a
reader that waits (for its playback buffer, say) makes the talker wait.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Generic

from s2s.tts.qwen3.checkpoint.spec import Generation
from s2s.tts.qwen3.engine.chunk_schedule import ChunkSchedule, ScheduleConfig
from s2s.tts.qwen3.engine.decode_loop import (
    Frame,
    FrameItem,
    SamplingRun,
    Stop,
    frame_limit,
    frames,
    prefill,
    takes_back,
)
from s2s.tts.qwen3.engine.edges import UNTOUCHED, StartTrim, StartTrimmer
from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.engine.prefetch import ahead
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.sounding import Chunk, D, Sounding
from s2s.tts.qwen3.engine.states import LanguageStatePool, LanguageStates, WarmStarts
from s2s.tts.qwen3.engine.stop_rules import Guards, StopReason
from s2s.tts.qwen3.interfaces import CodecDecoder, Ids, Stale, TalkerOutput, never
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder, Request, check_request
from s2s.tts.qwen3.text.stream import TextSource

__all__ = ["UNTOUCHED", "Chunk", "Engine", "FrameStream", "Report", "Speech", "StartTrim"]

RETRIES = 2
"""Of a start in a repetition loop: each costs as much time before the first sound."""


@dataclass(frozen=True, slots=True)
class Speech:
    """One utterance: iterate ``chunks`` once, and close it when stopping early. ``report`` fills
    up meanwhile."""

    chunks: Generator[Chunk, None, None]
    report: Report

    def close(self) -> None:
        """End it and free what it holds; after the last chunk this changes nothing."""
        self.chunks.close()


@dataclass(frozen=True, slots=True)
class FrameStream:
    """The codes of one sampling run, for a decoder elsewhere: iterate ``items`` once, and close it
    when stopping early. ``report`` fills up meanwhile."""

    items: Generator[FrameItem, None, None]
    report: Report


@dataclass(frozen=True, slots=True)
class _Fed(Generic[T, P]):
    """A prompt that stands in the talker's state, and what the talker says after it."""

    prompt: Prompt
    states: LanguageStates[T, P]
    out: TalkerOutput


@dataclass(frozen=True, slots=True)
class _Utterance:
    """What was asked for."""

    request: Request
    seed: int
    generation: Generation
    schedule: ScheduleConfig
    stale: Stale
    report: Report

    @property
    def feed(self) -> TextSource | None:
        """Where its text comes from, if it is still being written."""
        return None if isinstance(self.request.text, str) else self.request.text

    @property
    def voice_codes(self) -> Ids | None:
        """int64 [frames, G] of the recording its voice is cloned from in context."""
        reference = self.request.reference
        return None if reference is None else reference.codes

    @property
    def deterministic(self) -> bool:
        """Another sampling run would only say the same again."""
        return self.generation.talker.greedy and self.generation.predictor.greedy

    def close_feed(self) -> None:
        """Its text is read no further: who waits for more of it goes on."""
        if self.feed is not None:
            self.feed.close()


class Engine(Generic[T, P, D]):
    """Speaks. Any number of utterances may run at once, each in its own thread."""

    def __init__(
        self,
        model: LanguageModel[T, P],
        decoder: CodecDecoder[D],
        prompts: PromptBuilder,
        *,
        samples_per_frame: int,
        sample_rate_hz: int,
        guards: Guards | None = None,
        start_trim: StartTrim | None = None,
        frames_ahead: int = 0,
    ) -> None:
        """``frames_ahead``: frames the language model may be ahead of the decoder, in a thread of
        its own, which pays where there are cores for both; 0 takes turns in one thread."""
        self._model = model
        self._decoder = decoder
        self._prompts = prompts
        self._samples_per_frame = samples_per_frame
        self._sample_rate_hz = sample_rate_hz
        self._guards = guards or Guards()
        self._start_trim = start_trim or StartTrim()
        self._frames_ahead = frames_ahead
        self._states = LanguageStatePool(model)
        self._warm_starts = WarmStarts(decoder)

    def speak(
        self,
        request: Request,
        *,
        seed: int = 0,
        schedule: ScheduleConfig | None = None,
        generation: Generation | None = None,
        stale: Stale = never,
    ) -> Speech:
        """Prepare an utterance; nothing is computed before its first chunk is asked for.

        ``stale``: asked again and again; once true, the speech ends at once. ``generation`` None
        is the checkpoint's own. Raises PromptError when the request cannot be spoken. A text that
        is still being written is waited for while chunks are asked for, and raises PromptError
        there when it ends without a single token; its feed is closed when the speech ends.
        """
        settings = generation or self._model.spec.generation
        utterance = _Utterance(
            request, seed, settings, schedule or ScheduleConfig(), stale, Report()
        )
        return Speech(self._chunks(utterance, self._prompt(utterance)), utterance.report)

    def frames(
        self,
        request: Request,
        *,
        seed: int = 0,
        attempt: int = 0,
        generation: Generation | None = None,
        stale: Stale = never,
    ) -> FrameStream:
        """The codes of an utterance, undecoded; the rest as in `speak`.

        ``attempt``: which sampling run, of those that `speak` tries where it discards one.
        """
        settings = generation or self._model.spec.generation
        utterance = _Utterance(request, seed, settings, ScheduleConfig(), stale, Report())
        prompt = self._prompt(utterance)
        return FrameStream(self._undecoded(utterance, prompt, attempt), utterance.report)

    def keep_warm_start(self, codes: Ids, state: D) -> None:
        """Keep a decoder state that has heard ``codes``, int64 [frames, G], for clones in context
        of that recording; the engine closes it when it is no longer needed."""
        self._warm_starts.keep(codes, state)

    def close(self) -> None:
        """Free every idle state; utterances that still run free their own."""
        self._states.close()
        self._warm_starts.close()

    def _prompt(self, utterance: _Utterance) -> Prompt | None:
        """The prompt; None for a text that is still being written. Raises PromptError."""
        request, report = utterance.request, utterance.report
        if not isinstance(request.text, str):
            check_request(request, self._model.spec)
            return None
        prompt = self._prompts.build(request)
        report.text_tokens, report.prompt_positions = prompt.text_tokens, len(prompt.embeddings)
        return prompt

    def _chunks(self, utterance: _Utterance, prompt: Prompt | None) -> Generator[Chunk, None, None]:
        """The utterance from its beginning to its last chunk."""
        with self._fed(utterance, prompt) as fed:
            if fed is None:
                utterance.report.stop_reason = StopReason.STOPPED
                return
            yield from self._spoken(utterance, fed)

    def _undecoded(
        self, utterance: _Utterance, prompt: Prompt | None, attempt: int
    ) -> Generator[FrameItem, None, None]:
        """The frames of one sampling run from the prompt on."""
        report = utterance.report
        with self._fed(utterance, prompt) as fed:
            if fed is None:
                report.stop_reason = StopReason.STOPPED
                yield Stop(StopReason.STOPPED, 0)
                return
            for item in self._sampled(utterance, fed, attempt):
                match item:
                    case Stop(reason=reason):
                        report.stop_reason = reason
                        yield item
                    case Frame(index=index):
                        yield replace(item, text_late=fed.prompt.text_late(index))

    @contextmanager
    def _fed(
        self, utterance: _Utterance, prompt: Prompt | None
    ) -> Generator[_Fed[T, P] | None, None, None]:
        """Inside, the prompt is fed; None when cancelled before. However it ends, what the
        utterance holds is given back."""
        report = utterance.report
        report.began_s = perf_counter()
        try:
            prompt = prompt or self._begin(utterance)
            if prompt is None:
                yield None
                return
            report.prompt_positions = len(prompt.embeddings)
            limit = frame_limit(prompt, self._model.spec, self._run(utterance, 0))
            with self._states.lent(prompt, len(prompt.embeddings) + limit) as (states, done):
                out = self._prefilled(utterance, prompt, states, done)
                yield None if out is None else _Fed(prompt, states, out)
        finally:
            utterance.close_feed()
            if prompt is not None and prompt.coming is not None:
                report.text_tokens = prompt.coming.tokens

    def _begin(self, utterance: _Utterance) -> Prompt | None:
        """The prompt of a text that is still being written, once it has a first token; None when
        cancelled before."""
        feed, report = utterance.feed, utterance.report
        if feed is None:
            return None
        prompt = self._prompts.begin(utterance.request, feed, utterance.stale)
        report.stall_s += perf_counter() - report.began_s
        return prompt

    def _prefilled(
        self, utterance: _Utterance, prompt: Prompt, states: LanguageStates[T, P], done: int
    ) -> TalkerOutput | None:
        """What the talker says after the prompt, of which ``done`` positions stand in its state;
        None when cancelled on the way."""
        fed = prefill(
            self._model.talker, states.talker, prompt, done, utterance.stale, utterance.report
        )
        if fed.positions >= prompt.prefix:
            states.prefix = prompt.embeddings[: prompt.prefix]
        return fed.out

    def _spoken(self, utterance: _Utterance, fed: _Fed[T, P]) -> Generator[Chunk, None, None]:
        """Sampling runs until one is not discarded: each with other random numbers."""
        last = 0 if utterance.deterministic else RETRIES
        for attempt in range(last + 1):
            with (
                closing(self._warm_starts.state(utterance.voice_codes)) as decoder_state,
                closing(self._frames(utterance, fed, attempt)) as items,
            ):
                sounding = self._sounding(utterance, fed.prompt, decoder_state)
                try:
                    yield from sounding.chunks(items, last=attempt == last)
                finally:
                    if not sounding.discarded:
                        utterance.close_feed()  # or a thread that waits for text would never end
            if not sounding.discarded:
                return
            self._model.talker.rewind(fed.states.talker, len(fed.prompt.embeddings))
            utterance.report.again()

    def _run(self, utterance: _Utterance, attempt: int) -> SamplingRun:
        return SamplingRun.seeded(utterance.generation, utterance.seed, self._guards, attempt)

    def _frames(
        self, utterance: _Utterance, fed: _Fed[T, P], attempt: int
    ) -> Generator[FrameItem, None, None]:
        """The frames of a sampling run: in turn with the decoder, or ahead of it."""
        made = self._sampled(utterance, fed, attempt)
        if not self._frames_ahead:
            return made
        return ahead(made, self._frames_ahead, "qwen3-frames", takes_back)

    def _sampled(
        self, utterance: _Utterance, fed: _Fed[T, P], attempt: int
    ) -> Generator[FrameItem, None, None]:
        return frames(
            self._model,
            (fed.states.talker, fed.states.predictor),
            fed.out,
            fed.prompt,
            self._run(utterance, attempt),
            utterance.stale,
            utterance.report,
        )

    def _sounding(self, utterance: _Utterance, prompt: Prompt, state: D) -> Sounding[D]:
        return Sounding(
            self._decoder,
            state,
            ChunkSchedule(utterance.schedule),
            StartTrimmer(self._start_trim, self._sample_rate_hz, self._samples_per_frame),
            text_late=prompt.text_late,
            stale=utterance.stale,
            report=utterance.report,
        )
