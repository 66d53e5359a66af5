"""Speech from a request: prompt, frames, chunks, sound. One engine for every backend.

Codes are decoded in the chunks a schedule asks for, by a decoder that keeps its state, so nothing
is ever decoded twice. Whether to stop is asked before every talker step and every frame, before
and after every decode; what is not given out by then never is. Nothing is computed ahead of who
reads, or no more than a given number of frames: a reader that waits (for its playback buffer, say)
makes the talker wait.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, TypeVar

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import Generation
from s2s.tts.qwen3.engine.chunk_schedule import ChunkSchedule, ScheduleConfig
from s2s.tts.qwen3.engine.decode_loop import Take, frame_limit, frames, prefill
from s2s.tts.qwen3.engine.edges import UNTOUCHED, Edges, Onset
from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.engine.prefetch import ahead
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.stop_rules import Ending, Guards
from s2s.tts.qwen3.interfaces import (
    CodecDecoder,
    Floats,
    Ids,
    Stale,
    State,
    Stopped,
    TalkerOutput,
    never,
)
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder, Request, check_request
from s2s.tts.qwen3.text.stream import TextFeed

__all__ = ["UNTOUCHED", "Chunk", "Edges", "Engine", "Report", "Speech"]

D = TypeVar("D", bound=State)

_ROOM_STEP = 256  # positions; states are reused, so their sizes are kept alike
_PRIMED_VOICES = 8
_RETRIES = 2


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of sound: float32 [samples] in [-1, 1], and the codes int64 [frames, G] it is of."""

    pcm: Floats
    codes: Ids


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
class _Wanted:
    """An utterance as it was asked for."""

    request: Request
    seed: int
    generation: Generation
    schedule: ScheduleConfig
    stale: Stale
    report: Report

    @property
    def feed(self) -> TextFeed | None:
        """Where its text comes from, if it is still being written."""
        return self.request.text if isinstance(self.request.text, TextFeed) else None

    @property
    def voice_codes(self) -> Ids | None:
        """int64 [frames, G] of the recording its voice is cloned from in context."""
        reference = self.request.reference
        return None if reference is None else reference.codes


@dataclass(slots=True)
class _Idle(Generic[T, P]):
    """The states of an utterance between two, and the prompt prefix that the talker still has."""

    state: T
    predictor: P
    room: int
    prefix: Floats
    broken: bool = False
    """A backend failed while it used them: not to be used again."""

    def close(self) -> None:
        """Free both."""
        self.state.close()
        self.predictor.close()


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
        edges: Edges | None = None,
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
        self._edges = edges or Edges()
        self._frames_ahead = frames_ahead
        self._lock = threading.Lock()
        self._idle: _Idle[T, P] | None = None
        self._primed: OrderedDict[bytes, D] = OrderedDict()
        self._closed = False

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
        report = Report()
        if isinstance(request.text, str):
            prompt = self._prompts.build(request)
            report.text_tokens, report.prompt_positions = prompt.text_tokens, len(prompt.embeddings)
        else:
            check_request(request, self._model.spec)
            prompt = None
        settings = generation or self._model.spec.generation
        wanted = _Wanted(request, seed, settings, schedule or ScheduleConfig(), stale, report)
        return Speech(self._chunks(wanted, prompt), report)

    def keep_primed(self, codes: Ids, state: D) -> None:
        """Keep a decoder state that has heard ``codes``, int64 [frames, G], for clones in context
        of that recording; the engine closes it when it is no longer needed."""
        with self._lock:
            old = self._primed.pop(codes.tobytes(), None)
            if self._closed:
                old = state
            else:
                self._primed[codes.tobytes()] = state
            if len(self._primed) > _PRIMED_VOICES:
                old = self._primed.popitem(last=False)[1]
        if old is not None:
            old.close()

    def close(self) -> None:
        """Free every idle state; utterances that still run free their own."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, None, True
            primed, self._primed = list(self._primed.values()), OrderedDict()
        if idle is not None:
            idle.close()
        for state in primed:
            state.close()

    def _chunks(self, wanted: _Wanted, prompt: Prompt | None) -> Generator[Chunk, None, None]:
        feed, report = wanted.feed, wanted.report
        report.began_s = perf_counter()
        try:
            if feed is not None:
                prompt = self._prompts.begin(wanted.request, feed, wanted.stale)
                report.stall_s += perf_counter() - report.began_s
            if prompt is None:
                report.ending = Ending.STOPPED
                return
            report.prompt_positions = len(prompt.embeddings)
            take = Take.seeded(wanted.generation, wanted.seed, self._guards)
            limit = frame_limit(prompt, self._model.spec, take)
            idle, done = self._claim(prompt, len(prompt.embeddings) + limit)
            try:
                yield from self._attempts(wanted, prompt, idle, done)
            except Exception:
                idle.broken = True
                raise
            finally:
                self._give_back(idle)
        finally:
            if feed is not None:
                feed.close()
            if prompt is not None and prompt.coming is not None:
                report.text_tokens = prompt.coming.tokens

    def _attempts(
        self, wanted: _Wanted, prompt: Prompt, idle: _Idle[T, P], done: int
    ) -> Generator[Chunk, None, None]:
        """Speak; and again with other random numbers when it went round in circles before
        anything was heard. What was heard cannot be taken back."""
        report = wanted.report
        out = prefill(self._model.talker, idle.state, prompt, done, wanted.stale, report)
        if done + report.prefilled_positions >= prompt.prefix:
            idle.prefix = prompt.embeddings[: prompt.prefix]
        if out is None:
            report.ending = Ending.STOPPED
            return
        generation = wanted.generation
        greedy = generation.talker.greedy and generation.predictor.greedy
        while True:
            final = greedy or report.retries == _RETRIES
            take = Take.seeded(generation, wanted.seed, self._guards, report.retries)
            yield from self._attempt(wanted, prompt, idle, out, take, final=final)
            if final or not report.in_vain:
                return
            self._model.talker.rewind(idle.state, len(prompt.embeddings))
            report.again()

    def _attempt(
        self,
        wanted: _Wanted,
        prompt: Prompt,
        idle: _Idle[T, P],
        out: TalkerOutput,
        take: Take,
        *,
        final: bool,
    ) -> Generator[Chunk, None, None]:
        stale, report = wanted.stale, wanted.report
        decoder = self._decoder_state(wanted.voice_codes)
        try:
            states = (idle.state, idle.predictor)
            made = frames(self._model, states, out, prompt, take, stale, report)
            if self._frames_ahead:
                made = ahead(made, self._frames_ahead, "qwen3-frames")
            with closing(made):
                try:
                    yield from self._sound(wanted, prompt, made, decoder, final=final)
                except BaseException:
                    if wanted.feed is not None:
                        wanted.feed.close()  # or a thread that waits for text would never end
                    raise
        finally:
            decoder.close()

    def _sound(
        self,
        wanted: _Wanted,
        prompt: Prompt,
        made: Iterator[Ids],
        decoder: D,
        *,
        final: bool,
    ) -> Iterator[Chunk]:
        """Frames to chunks of sound, by the schedule. Unless it is the ``final`` attempt, nothing
        is given out of one in vain."""
        stale, report = wanted.stale, wanted.report
        schedule, onset = ChunkSchedule(wanted.schedule), Onset(self._edges, self._sample_rate_hz)
        waiting: list[Ids] = []
        length = 0

        def emit(at_once: bool) -> Iterator[Chunk]:
            now_s = perf_counter()
            size = schedule.emit(length, at_once, (now_s - report.began_s) * 1000)
            if not size:
                return
            if stale():
                report.ending = Ending.STOPPED
                return
            codes = np.stack(waiting)
            waiting.clear()
            try:
                pcm = self._decoder.decode(decoder, codes, stale)
            except Stopped:
                report.ending = Ending.STOPPED
                return
            report.codec_s.append(perf_counter() - now_s)
            report.decoded_frames.append(len(codes))
            if stale():
                report.ending = Ending.STOPPED
                return
            kept = onset.shape(pcm, self._samples_per_frame)
            report.withheld_frames = onset.withheld_frames
            if kept.size:
                report.chunk_frames.append(kept.size // self._samples_per_frame)
                report.chunk_at_s.append(perf_counter() - report.began_s)
                yield Chunk(kept, codes[len(codes) - kept.size // self._samples_per_frame :])

        for codes in made:
            waiting.append(codes)
            length += 1
            if length <= report.frames - report.unwanted_frames:
                # Who waits for text holds no sound back meanwhile.
                late = length == report.frames and prompt.text_late(length - 1)
                yield from emit(at_once=late)
        drop = min(report.unwanted_frames, len(waiting))
        del waiting[len(waiting) - drop :]
        length -= drop
        if report.ending is not Ending.STOPPED and (final or not report.in_vain):
            yield from emit(at_once=True)

    def _claim(self, prompt: Prompt, positions: int) -> tuple[_Idle[T, P], int]:
        """A talker state with room, and how many of the prompt's positions already stand in it."""
        with self._lock:
            idle, self._idle = self._idle, None
        if idle is not None and idle.room < positions:
            idle.close()
            idle = None
        if idle is None:
            room = -(-positions // _ROOM_STEP) * _ROOM_STEP
            room = min(room, self._model.spec.talker.max_positions)
            predictor = self._model.predictor.new_state()
            state = self._model.talker.new_state(room)
            return _Idle(state, predictor, room, prompt.embeddings[:0]), 0
        wanted = prompt.embeddings[: prompt.prefix]
        kept = len(wanted) if np.array_equal(idle.prefix, wanted) else 0
        idle.prefix = idle.prefix[:kept]
        self._model.talker.rewind(idle.state, kept)
        return idle, kept

    def _give_back(self, idle: _Idle[T, P]) -> None:
        """Keep the states for the next utterance, unless others are kept or they are broken."""
        with self._lock:
            keep = self._idle is None and not self._closed and not idle.broken
            if keep:
                self._idle = idle
        if not keep:
            idle.close()

    def _decoder_state(self, voice_codes: Ids | None) -> D:
        """A fresh decoder state; for a voice cloned in context, one that has heard the recording,
        so that the first frame follows on from it. The official package decodes the recording
        every time and cuts it off again: the same samples."""
        if voice_codes is None:
            return self._decoder.new_state()
        key = voice_codes.tobytes()
        with self._lock:
            primed = self._primed.get(key)
            if primed is not None:
                self._primed.move_to_end(key)
                return self._decoder.fork(primed)
        state = self._decoder.new_state()
        self._decoder.decode(state, voice_codes)
        self.keep_primed(voice_codes, self._decoder.fork(state))
        return state
