"""Full-size Qwen3-TTS under a stopwatch: utterances of a fixed length, and what each part took.

Weights may be random: what is measured depends on shapes, not on what is said. A random model
never ends by itself, and its acceptance of draft tokens says nothing about a trained one's; so the
number of frames is given, and the acceptance of draft tokens can be emulated at a published rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from s2s.bench.synthesis import Arrivals
from s2s.core.metrics import percentile
from s2s.tts.qwen3 import (
    FRAME_MS,
    Generation,
    Kind,
    Qwen3Model,
    Reference,
    Report,
    Request,
    ScheduleConfig,
    Spec,
)

PUBLISHED_CODES_A_PASS = 2.47
"""Codes that one forward pass of the predictor gave, on trained weights (arXiv 2609.37007)."""

TEXT = (
    "The harbour was quiet when the first boats came in, and the light lay flat on the water. "
    "Somebody had left a lantern burning at the end of the pier, although the sun was long up, "
    "and two children were trying to decide which of them should walk out and put it out."
)
"""Long enough that no guard ends an utterance of a few hundred frames."""


def acceptance_rate(codes_a_pass: float, draft_tokens: int) -> float:
    """The acceptance rate a of a draft token, independent of the others, at which a pass that
    verifies n of them gives ``codes_a_pass`` on average: the root of 1 + a + ... + a^n.

    Raises ValueError when there is none: a pass gives between 1 and n + 1.
    """
    if not 1 <= codes_a_pass <= draft_tokens + 1:
        raise ValueError(
            f"{draft_tokens} draft tokens give 1 to {draft_tokens + 1} codes, not {codes_a_pass}"
        )
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        codes = sum(middle**power for power in range(draft_tokens + 1))
        low, high = (middle, high) if codes < codes_a_pass else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class TimedUtterance:
    """One utterance: its report, and when its chunks came."""

    report: Report
    arrivals: Arrivals


class Bench:
    """Speaks utterances of a fixed number of frames with one model and one voice."""

    def __init__(self, model: Qwen3Model, schedule: ScheduleConfig | None = None) -> None:
        self.schedule = schedule or ScheduleConfig()
        self.request = request(model.spec)
        self._model = model

    def speak(self, frames: int, seed: int, stale: Callable[[], bool] = lambda: False) -> Report:
        """An utterance of ``frames``, read as fast as it comes."""
        return self._model.speak_frames(self.request, frames, self.schedule, seed=seed, stale=stale)

    def utterance(self, frames: int, seed: int) -> TimedUtterance:
        """The same, with the arrivals of its chunks. Raises RuntimeError when it ended early."""
        report = self.speak(frames, seed)
        if report.frames != frames:
            raise RuntimeError(f"{report.frames} of {frames} frames: {report.stop_reason}")
        lasts_s = tuple(size * FRAME_MS / 1000 for size in report.chunk_frames)
        return TimedUtterance(report, Arrivals(tuple(report.chunk_at_s), lasts_s))

    def abort_ms(self, after_s: float, seed: int, frames: int = 1000) -> float | None:
        """How long it takes until nothing is computed any more when the speech goes stale
        ``after_s`` after its start; None when it was over before."""
        began_s = perf_counter()
        report = self.speak(frames, seed, lambda: perf_counter() - began_s >= after_s)
        late_s = perf_counter() - began_s - after_s
        return 1000 * late_s if report.frames < frames else None


def request(spec: Spec) -> Request:
    """What the benchmark says: with the first trained speaker, or with a random voice."""
    match spec.kind:
        case Kind.BASE:
            vector = np.random.default_rng(0).standard_normal(spec.talker.hidden, np.float32)
            return Request(TEXT, language="english", reference=Reference(vector))
        case Kind.CUSTOM_VOICE:
            return Request(TEXT, language="english", speaker=min(spec.speakers))
        case Kind.VOICE_DESIGN:
            return Request(TEXT, language="english", instruction="A calm voice.")


def exactly(generation: Generation, frames: int) -> Generation:
    """Settings with which neither more nor less than ``frames`` are made."""
    return replace(generation, min_new_tokens=frames + 1, max_new_tokens=frames + 1)


@dataclass(frozen=True, slots=True)
class Times:
    """Of one part, in milliseconds."""

    p50_ms: float
    p95_ms: float

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        """Of measurements in seconds, at least one."""
        ms = [1000 * each for each in seconds]
        return cls(round(percentile(ms, 0.5), 2), round(percentile(ms, 0.95), 2))


@dataclass(frozen=True, slots=True)
class Summary:
    """Several utterances of one setting."""

    talker_step: Times
    predictor_frame: Times
    codec_frame: Times
    """Of a decoder call, divided by its frames."""
    prefill: Times
    first_chunk: Times
    uninterrupted_start: Times
    gap: Times
    """Between one chunk and the next."""
    rtf: float
    """Of all utterances together: seconds to make over seconds of sound."""
    rtf_after_prompt: float
    """The same without the prompt: what every further second of sound takes. The start line of a
    conversation tells this one, because where text is fed a prompt is short."""
    frames_a_call: float
    forward_passes_a_frame: float
    audio_s: float

    @classmethod
    def of(cls, runs: list[TimedUtterance]) -> Summary:
        """Of at least one utterance."""
        reports = [run.report for run in runs]
        audio_s = sum(run.arrivals.audio_s for run in runs)
        made_s = sum(run.arrivals.done_s for run in runs)
        frames = sum(report.frames for report in reports)
        calls = [
            call for each in reports for call in zip(each.codec_s, each.decoded_frames, strict=True)
        ]
        return cls(
            talker_step=Times.of([each for report in reports for each in report.talker_s]),
            predictor_frame=Times.of([each for report in reports for each in report.predictor_s]),
            codec_frame=Times.of([seconds / size for seconds, size in calls]),
            prefill=Times.of([report.prefill_s for report in reports]),
            first_chunk=Times.of([run.arrivals.first_audio_s for run in runs]),
            uninterrupted_start=Times.of([run.arrivals.uninterrupted_start_s for run in runs]),
            gap=Times.of([gap for run in runs for gap in run.arrivals.gaps_s] or [0.0]),
            rtf=round(made_s / audio_s, 3),
            rtf_after_prompt=round((made_s - sum(each.prefill_s for each in reports)) / audio_s, 3),
            frames_a_call=round(frames / len(calls), 2),
            forward_passes_a_frame=round(sum(each.forward_passes for each in reports) / frames, 2),
            audio_s=round(audio_s, 2),
        )
