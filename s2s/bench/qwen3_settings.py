"""The Qwen3-TTS core opened for a measurement, in one of the settings that are compared."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from s2s.bench.qwen3 import Bench, CountedPredictor, acceptance, costs, emulated_acceptance
from s2s.tts.qwen3 import ggml
from s2s.tts.qwen3.convert import Record, read_record
from s2s.tts.qwen3.engine import UNTOUCHED
from s2s.tts.qwen3.model import Qwen3Model
from s2s.tts.qwen3.schedule import ScheduleConfig, edge_schedule

WARM_FRAMES = 9
WARM_SCHEDULE = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=8)


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    folder: Path
    """A converted checkpoint."""
    home: Path
    threads: int
    guesses: int
    codes_a_pass: float | None
    """Emulated; None takes the guesses as these weights accept them."""
    frames: int
    runs: int
    aborts: int
    chunk_frames: int | None
    """None lets the measured speed choose the schedule, as in use."""

    @property
    def label(self) -> str:
        """What a reader has to know of the row."""
        if not self.guesses:
            return "no guesses"
        if self.codes_a_pass is None:
            return f"{self.guesses} guesses, accepted as these weights do"
        return f"{self.guesses} guesses, emulated {self.codes_a_pass} codes a pass"


def record_of(folder: Path) -> Record:
    """What a converted folder was converted to. Raises ValueError for any other folder."""
    record = read_record(folder)
    if record is None:
        raise ValueError(f"{folder} is not converted")
    return record


def open_bench(setting: Setting) -> tuple[Qwen3Model, Bench, list[int]]:
    """The model, what speaks with it, and the list to which the passes of each frame go."""
    counted: list[CountedPredictor] = []
    record = record_of(setting.folder)

    def load(*arguments, **options):
        parts = real(*arguments, **options, guesses=setting.guesses)
        counted.append(CountedPredictor(parts.language.predictor))
        return replace(parts, language=replace(parts.language, predictor=counted[0]))

    real = ggml.load
    with patch.object(ggml, "load", load):
        model = Qwen3Model.open(
            setting.folder,
            setting.home,
            quant=record.quant,
            predictor_quant=record.predictor_quant,
            threads=setting.threads,
            edges=UNTOUCHED,
        )
    return model, Bench(model.engine, model.spec), counted[0].passes


def warm(bench: Bench, chunk_frames: int | None) -> None:
    """Speak unheard, twice, and choose the schedule as `Qwen3.warm` does."""
    bench.schedule = WARM_SCHEDULE
    bench.speak(WARM_FRAMES, 0)
    bench.schedule = edge_schedule(costs(bench.speak(WARM_FRAMES, 1)))
    if chunk_frames is not None:
        bench.schedule = ScheduleConfig(
            initial_codec_chunk_frames=chunk_frames, codec_chunk_frames=chunk_frames
        )


def emulation(setting: Setting) -> AbstractContextManager[None]:
    """The context in which a setting is measured."""
    if setting.codes_a_pass is None:
        return nullcontext()
    return emulated_acceptance(acceptance(setting.codes_a_pass, setting.guesses))


def schedule_name(schedule: ScheduleConfig) -> str:
    """Chunk sizes in frames, as text."""
    if schedule.codec_chunk_ramp:
        return "ramp " + ",".join(map(str, schedule.codec_chunk_ramp))
    return f"{schedule.initial_codec_chunk_frames}, then {schedule.codec_chunk_frames}"
