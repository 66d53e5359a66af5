"""The one loop from frames to sound, the same for every backend.

Collects frames until the schedule asks for them, decodes them with a decoder that keeps its
state, trims the start. Knows nothing of text, sampling or threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, TypeVar

import numpy as np

from s2s.tts.qwen3.engine.chunk_schedule import ChunkSchedule
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameItem, Stop
from s2s.tts.qwen3.engine.edges import StartTrimmer
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.stop_rules import StopReason
from s2s.tts.qwen3.errors import SoundError
from s2s.tts.qwen3.interfaces import CodecDecoder, Floats, Ids, Stale, State, Stopped

D = TypeVar("D", bound=State)


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """A piece of sound: float32 [samples] in [-1, 1], and the codes int64 [frames, G] it is of."""

    pcm: Floats
    codes: Ids


class Sounding(Generic[D]):
    """The sound of one sampling run.

    ``stale`` is asked before and after every decode. ``text_late(index)``: the text that the frame
    after this one needs has yet to be written, so no sound is held back meanwhile.
    """

    def __init__(
        self,
        decoder: CodecDecoder[D],
        state: D,
        schedule: ChunkSchedule,
        trimmer: StartTrimmer,
        *,
        text_late: Callable[[int], bool],
        stale: Stale,
        report: Report,
    ) -> None:
        self._decoder = decoder
        self._state = state
        self._schedule = schedule
        self._trimmer = trimmer
        self._text_late = text_late
        self._stale = stale
        self._report = report
        self._waiting: list[Ids] = []
        self._frames = 0
        self._heard = False
        self.discarded = False
        """The run was a repetition loop before anything of it was heard: another can be tried."""

    def chunks(self, items: Iterator[FrameItem], *, last: bool) -> Generator[Chunk, None, None]:
        """The run's chunks of sound. Unless it is the ``last`` that is tried, nothing is given out
        of one that is discarded. What was heard cannot be taken back."""
        try:
            for item in items:
                chunk = self._after(item, last)
                if chunk is not None:
                    self._heard = True
                    yield chunk
        except Stopped:
            self._report.stop_reason = StopReason.STOPPED

    def _after(self, item: FrameItem, last: bool) -> Chunk | None:
        """The chunk that is due after an item, if any. Raises Stopped when cancelled."""
        match item:
            case Frame(index=index, codes=codes, took_s=took_s, text_late=text_late):
                self._waiting.append(codes)
                self._frames += 1
                if index:  # before the first there was no step of the talker
                    self._schedule.made(1000 * took_s)
                return self._due(finished=text_late or self._text_late(index))
            case Stop(reason=reason, frames=frames):
                self._report.stop_reason = reason
                self.discarded = reason is StopReason.REPETITION and not self._heard and not last
                if self.discarded or reason is StopReason.STOPPED:
                    return None
                self._drop_after(frames)
                return self._due(finished=True)

    def _drop_after(self, frames: int) -> None:
        """Forget what comes after so many frames, as far as it is not decoded yet."""
        drop = min(max(0, self._frames - frames), len(self._waiting))
        del self._waiting[len(self._waiting) - drop :]
        self._frames -= drop

    def _due(self, *, finished: bool) -> Chunk | None:
        """Decode what the schedule asks for; None when that is nothing, or all of it silence."""
        report, began_s = self._report, perf_counter()
        now_ms = 1000 * (began_s - report.began_s)
        if not self._schedule.emit(self._frames, finished, now_ms):
            return None
        if self._stale():
            raise Stopped
        codes = np.stack(self._waiting)
        self._waiting.clear()
        pcm = self._decoder.decode(self._state, codes, self._stale)
        took_s = perf_counter() - began_s
        self._schedule.decoded(len(codes), 1000 * took_s)
        report.codec_s.append(took_s)
        report.decoded_frames.append(len(codes))
        if self._stale():
            raise Stopped
        if not np.isfinite(pcm).all():
            raise SoundError(
                f"the codec made sound that is no number (frame {self._frames}): its weights are "
                "damaged; fetch and convert the checkpoint again"
            )
        kept = self._trimmer.trim(pcm)
        if silent := self._trimmer.trimmed_frames - report.trimmed_frames:
            self._schedule.silent(silent)
        report.trimmed_frames = self._trimmer.trimmed_frames
        if not kept.size:
            return None
        frames = len(codes) * kept.size // pcm.size
        report.chunk_frames.append(frames)
        report.chunk_at_s.append(perf_counter() - report.began_s)
        return Chunk(kept, codes[len(codes) - frames :])
