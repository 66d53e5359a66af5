"""Speech from a request: prompt, frames, chunks, sound. One engine for every backend.

Codes are decoded in the chunks a schedule asks for, by a decoder that keeps its state, so nothing
is ever decoded twice. Whether to stop is asked before every talker step, every frame and every
decode; what was not yet decoded is then dropped. Nothing is computed ahead of who reads, or no
more than a given number of frames: a reader that waits (for its playback buffer, say) makes the
talker wait.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Generic, TypeVar

import numpy as np

from s2s.tts.qwen3.ahead import ahead
from s2s.tts.qwen3.frames import (
    FrameReport,
    LanguageModel,
    P,
    Stale,
    T,
    Take,
    frame_limit,
    frames,
    never,
    prefill,
)
from s2s.tts.qwen3.guards import Ending, Guards
from s2s.tts.qwen3.ports import CodecDecoder, Floats, Ids, State
from s2s.tts.qwen3.prompt import Prompt, PromptBuilder, Request
from s2s.tts.qwen3.schedule import (
    ChunkSchedule,
    Costs,
    ScheduleConfig,
    uninterrupted_start_ms,
)
from s2s.tts.qwen3.spec import Generation

D = TypeVar("D", bound=State)

_ROOM_STEP = 256  # positions; states are reused, so their sizes are kept alike
_PRIMED_VOICES = 8


@dataclass(frozen=True, slots=True)
class Edges:
    """What is done to the start of the sound.

    Up to ``silent_frames`` leading frames quieter than ``silence_dbfs`` are decoded but not given
    out (the CustomVoice models begin with a frame of digital silence); the first samples given out
    fade in over ``fade_in_ms``, which keeps a cut from clicking.
    """

    silent_frames: int = 6
    silence_dbfs: float = -60.0
    fade_in_ms: float = 5.0


UNTOUCHED = Edges(silent_frames=0, fade_in_ms=0.0)
"""Every sample as the decoder gave it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of sound: float32 [samples] in [-1, 1], and the codes int64 [frames, G] it is of."""

    pcm: Floats
    codes: Ids


@dataclass(slots=True)
class Report(FrameReport):
    """What an utterance took, as far as it has come."""

    text_tokens: int = 0
    prompt_positions: int = 0
    withheld_frames: int = 0
    codec_s: list[float] = field(default_factory=list)
    decoded_frames: list[int] = field(default_factory=list)
    """Frames of each call of the decoder, as ``codec_s`` has its times."""
    chunk_frames: list[int] = field(default_factory=list)
    chunk_at_s: list[float] = field(default_factory=list)
    """When each chunk was ready, from the start of the utterance."""

    def costs(self, together: bool = False) -> Costs:
        """What this machine needs, as far as this utterance shows. together: see ``Costs``."""
        codes_s = sum(
            median(times) if times else 0.0 for times in (self.talker_s, self.predictor_s)
        )
        calls = zip(self.decoded_frames, (1000 * took_s for took_s in self.codec_s), strict=True)
        return Costs.measured(1000 * codes_s, list(calls), together)

    @property
    def uninterrupted_start_s(self) -> float:
        """The earliest start of playback that never runs dry, from the start of the utterance; the
        first chunk may be there before."""
        at_ms = (1000 * at_s for at_s in self.chunk_at_s)
        return uninterrupted_start_ms(list(zip(at_ms, self.chunk_frames, strict=True))) / 1000


@dataclass(frozen=True, slots=True)
class Speech:
    """One utterance: iterate ``chunks`` once, and close it when stopping early. ``report`` fills
    up meanwhile."""

    chunks: Generator[Chunk, None, None]
    report: Report

    def close(self) -> None:
        """End it and free what it holds; after the last chunk this changes nothing."""
        self.chunks.close()


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
        is the checkpoint's own. Raises PromptError when the request cannot be spoken.
        """
        prompt = self._prompts.build(request)
        settings = generation or self._model.spec.generation
        take = Take.seeded(settings, seed, self._guards)
        report = Report(text_tokens=prompt.text_tokens, prompt_positions=len(prompt.embeddings))
        reference = request.reference
        codes = reference.codes if reference is not None else None
        chunks = self._chunks(prompt, codes, take, schedule or ScheduleConfig(), stale, report)
        return Speech(chunks, report)

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

    def _chunks(
        self,
        prompt: Prompt,
        voice_codes: Ids | None,
        take: Take,
        schedule: ScheduleConfig,
        stale: Stale,
        report: Report,
    ) -> Generator[Chunk, None, None]:
        began_s = perf_counter()
        limit = frame_limit(prompt, self._model.spec, take)
        idle, done = self._claim(prompt, len(prompt.embeddings) + limit)
        decoder: D | None = None
        try:
            out = prefill(self._model.talker, idle.state, prompt, done, stale, report)
            if done + report.prefilled_positions >= prompt.prefix:
                idle.prefix = prompt.embeddings[: prompt.prefix]
            if out is None:
                report.ending = Ending.STOPPED
                return
            decoder = self._decoder_state(voice_codes)
            states = (idle.state, idle.predictor)
            made = frames(self._model, states, out, prompt, take, stale, report)
            if self._frames_ahead:
                made = ahead(made, self._frames_ahead, "qwen3-frames")
            with closing(made):
                yield from self._sound(made, decoder, schedule, stale, report, began_s)
        except Exception:
            idle.broken = True
            raise
        finally:
            if decoder is not None:
                decoder.close()
            self._give_back(idle)

    def _sound(
        self,
        made: Iterator[Ids],
        decoder: D,
        config: ScheduleConfig,
        stale: Stale,
        report: Report,
        began_s: float,
    ) -> Iterator[Chunk]:
        """Frames to chunks of sound, by the schedule."""
        schedule, onset = ChunkSchedule(config), Onset(self._edges, self._sample_rate_hz)
        waiting: list[Ids] = []
        length = 0

        def emit(finished: bool) -> Iterator[Chunk]:
            now_s = perf_counter()
            size = schedule.emit(length, finished, (now_s - began_s) * 1000)
            if not size:
                return
            if stale():
                report.ending = Ending.STOPPED
                return
            codes = np.stack(waiting)
            waiting.clear()
            pcm = self._decoder.decode(decoder, codes)
            report.codec_s.append(perf_counter() - now_s)
            report.decoded_frames.append(len(codes))
            kept = onset.shape(pcm, self._samples_per_frame)
            report.withheld_frames = onset.withheld_frames
            if kept.size:
                report.chunk_frames.append(kept.size // self._samples_per_frame)
                report.chunk_at_s.append(perf_counter() - began_s)
                yield Chunk(kept, codes[len(codes) - kept.size // self._samples_per_frame :])

        for codes in made:
            waiting.append(codes)
            length += 1
            if report.ending is None:
                yield from emit(finished=False)
        drop = min(report.unwanted_frames, len(waiting))
        del waiting[len(waiting) - drop :]
        length -= drop
        if report.ending is not Ending.STOPPED:
            yield from emit(finished=True)

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


class Onset:
    """Shapes the start of one utterance's sound."""

    def __init__(self, edges: Edges, sample_rate_hz: int) -> None:
        self._left = edges.silent_frames
        self._floor = 10 ** (edges.silence_dbfs / 20)
        self._fade = round(edges.fade_in_ms * sample_rate_hz / 1000)
        self._started = False
        self.withheld_frames = 0

    def shape(self, pcm: Floats, samples_per_frame: int) -> Floats:
        """What of a chunk is to be heard: float32 [samples], whole frames, possibly none."""
        if self._started:
            return pcm
        start = 0
        while self._left and start < pcm.size:
            frame = pcm[start : start + samples_per_frame]
            if np.sqrt(np.mean(frame * frame)) > self._floor:
                break
            start += samples_per_frame
            self._left -= 1
            self.withheld_frames += 1
        if start >= pcm.size:
            return pcm[:0]
        self._started = True
        kept = pcm[start:].copy()
        ramp = np.arange(min(self._fade, kept.size), dtype=np.float32) / max(self._fade, 1)
        kept[: ramp.size] *= ramp
        return kept
