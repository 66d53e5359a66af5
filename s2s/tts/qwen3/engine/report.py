"""What an utterance took, and what it says of the machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from s2s.tts.base import SegmentReport
from s2s.tts.qwen3.engine.chunk_schedule import FRAME_MS, Costs, uninterrupted_start_ms
from s2s.tts.qwen3.engine.costs import Spent
from s2s.tts.qwen3.engine.decode_loop import FrameReport
from s2s.tts.qwen3.engine.stop_rules import StopReason


@dataclass(slots=True)
class Report(FrameReport):
    """What an utterance took, as far as it has come. It only listens: nothing is decided by it."""

    text_tokens: int = 0
    prompt_positions: int = 0
    trimmed_frames: int = 0
    retries: int = 0
    """Sampling runs that were discarded: repetition loops before anything was heard."""
    codec_s: list[float] = field(default_factory=list)
    decoded_frames: list[int] = field(default_factory=list)
    """Frames of each call of the decoder, as ``codec_s`` has its times."""
    chunk_frames: list[int] = field(default_factory=list)
    chunk_at_s: list[float] = field(default_factory=list)
    """When each chunk was ready, from the start of the utterance."""
    began_s: float = 0.0
    """The start, by ``time.perf_counter``: when the first chunk was asked for."""

    def costs(self, overlapped: bool = False) -> Costs:
        """What this machine needs, as far as this utterance shows. overlapped: see ``Costs``."""
        codes_s = sum(
            median(times) if times else 0.0 for times in (self.talker_s, self.predictor_s)
        )
        calls = zip(self.decoded_frames, (1000 * took_s for took_s in self.codec_s), strict=True)
        return Costs.measured(1000 * codes_s, list(calls), overlapped)

    @property
    def spent(self) -> Spent:
        """What its frames and calls took."""
        frames = zip(self.talker_s, self.predictor_s, strict=False)
        calls = zip(self.decoded_frames, self.codec_s, strict=True)
        return Spent(
            tuple(1000 * (talker_s + predictor_s) for talker_s, predictor_s in frames),
            tuple((count, 1000 * took_s) for count, took_s in calls),
        )

    @property
    def uninterrupted_start_s(self) -> float:
        """The earliest start of playback that never runs dry, from the start of the utterance; the
        first chunk may be there before."""
        at_ms = (1000 * at_s for at_s in self.chunk_at_s)
        return uninterrupted_start_ms(list(zip(at_ms, self.chunk_frames, strict=True))) / 1000

    @property
    def audio_s(self) -> float:
        """Seconds of sound given out."""
        return sum(self.chunk_frames) * FRAME_MS / 1000

    @property
    def work_s(self) -> float:
        """Seconds of work, waiting left out: for text, and for the reader of the chunks."""
        return self.prefill_s + sum(self.talker_s) + sum(self.predictor_s) + sum(self.codec_s)

    @property
    def segment(self) -> SegmentReport:
        """What of it belongs in an answer's metrics, once it has ended."""
        found: dict[str, float] = {"frames": self.frames, "trimmed_frames": self.trimmed_frames}
        if self.retries:
            found["retries"] = self.retries
        if self.predictor_s:
            found["forward_passes_a_frame"] = round(self.forward_passes / len(self.predictor_s), 2)
        if self.audio_s:
            found["rtf"] = round(self.work_s / self.audio_s, 3)
            found["first_chunk_ms"] = round(1000 * self.chunk_at_s[0], 1)
            found["uninterrupted_start_ms"] = round(1000 * self.uninterrupted_start_s, 1)
        return SegmentReport((self.stop_reason or StopReason.STOPPED).name.lower(), found)

    def again(self) -> None:
        """The run so far was discarded: it counts as work only, and the speech starts anew."""
        self.stop_reason = None
        self.frames = self.trailing_frames = self.trimmed_frames = 0
        self.retries += 1
