"""The Qwen3-TTS core opened for a measurement, in one of the settings that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from s2s.bench.qwen3.utterances import Bench, acceptance_rate
from s2s.tts.qwen3 import (
    AUTO,
    UNTOUCHED,
    DevicePlacements,
    Qwen3Model,
    ScheduleConfig,
    edge_schedule,
    open_model,
)

WARM_FRAMES = 9
WARM_SCHEDULE = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=8)


@dataclass(frozen=True, slots=True)
class BenchSetting:
    """What is measured: a model, where and how it is computed, and how much of it is spoken."""

    source: Path
    """A checkpoint, converted or not."""
    home: Path
    quant: str
    predictor_quant: str | None
    backend: str
    """Of talker and predictor, as `codec` of that; "auto" is the fastest."""
    threads: int
    codec: str = AUTO
    draft_tokens: int = 0
    codes_a_pass: float | None = None
    """Emulated; None accepts draft tokens as these weights do."""
    frames: int = 100
    runs: int = 3
    aborts: int = 8
    chunk_frames: int | None = None
    """None lets the measured speed choose the schedule, as in use."""

    @property
    def label(self) -> str:
        """What a reader has to know of the row."""
        if not self.draft_tokens:
            return "no draft tokens"
        if self.codes_a_pass is None:
            return f"{self.draft_tokens} draft tokens, accepted as these weights do"
        return f"{self.draft_tokens} draft tokens, emulated {self.codes_a_pass} codes a pass"


def open_setting(setting: BenchSetting) -> Qwen3Model:
    """The model of a setting. Raises what ``open_model`` does."""
    model = open_model(
        setting.source,
        setting.home,
        quant=setting.quant,
        predictor_quant=setting.predictor_quant,
        placement=DevicePlacements(
            talker=setting.backend,
            predictor=setting.backend,
            codec=setting.codec,
            draft_tokens=setting.draft_tokens,
        ),
        threads=setting.threads,
        start_trim=UNTOUCHED,
    )
    if setting.codes_a_pass is not None:
        model.accept_at_rate(acceptance_rate(setting.codes_a_pass, setting.draft_tokens))
    return model


def warm(model: Qwen3Model, chunk_frames: int | None = None) -> Bench:
    """What speaks with the model, after it has spoken unheard, twice. The schedule is the one for
    its speed, as in use, or chunks of the given size."""
    bench = Bench(model, WARM_SCHEDULE)
    bench.speak(WARM_FRAMES, 0)
    costs = bench.speak(WARM_FRAMES, 1).costs(model.overlapped)
    bench.schedule = edge_schedule(costs)
    if chunk_frames is not None:
        bench.schedule = ScheduleConfig(
            initial_codec_chunk_frames=chunk_frames, codec_chunk_frames=chunk_frames
        )
    return bench


def schedule_name(schedule: ScheduleConfig) -> str:
    """Chunk sizes in frames, as text: "2 x 3, 4, then 8"."""
    sizes = schedule.codec_chunk_ramp or (schedule.initial_codec_chunk_frames,)
    runs = [(size, len(list(same))) for size, same in groupby(sizes)]
    parts = [f"{count} x {size}" if count > 1 else str(size) for size, count in runs]
    return ", ".join([*parts, f"then {schedule.codec_chunk_frames}"])
