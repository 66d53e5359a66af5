"""What a chunk schedule of Qwen3-TTS comes to, computed without a model."""

from __future__ import annotations

from collections.abc import Callable

from s2s.tts.qwen3.engine.chunk_schedule import (
    ChunkSchedule,
    Costs,
    ScheduleConfig,
    uninterrupted_start_ms,
)


def timeline(config: ScheduleConfig, frames: int, costs: Costs) -> list[tuple[float, int]]:
    """The chunks of an utterance of ``frames``: (ready in ms after the prefill, frames)."""
    schedule = ChunkSchedule(config)
    chunks: list[tuple[float, int]] = []
    free_ms, before, since_ms = 0.0, 0, 0.0
    for length in range(1, frames + 1):
        now_ms = since_ms + (length - before) * costs.codes_ms
        size = schedule.emit(length, length == frames, now_ms)
        if not size:
            continue
        free_ms = costs.ready_ms(free_ms, length - size, size)
        chunks.append((free_ms, size))
        if not costs.overlapped:
            before, since_ms = length, free_ms
    return chunks


def followed(
    config: ScheduleConfig, frames: int, costs_at: Callable[[float], Costs], *, told: bool = True
) -> list[tuple[float, int]]:
    """The same on a machine whose costs change with time, in one thread; ``told``: the schedule
    hears what each frame and each call took."""
    schedule = ChunkSchedule(config)
    chunks: list[tuple[float, int]] = []
    now_ms = 0.0
    for length in range(1, frames + 1):
        took_ms = costs_at(now_ms).codes_ms
        now_ms += took_ms
        if told:
            schedule.made(took_ms)
        size = schedule.emit(length, length == frames, now_ms)
        if not size:
            continue
        took_ms = costs_at(now_ms).decoded_ms(size)
        now_ms += took_ms
        if told:
            schedule.decoded(size, took_ms)
        chunks.append((now_ms, size))
    return chunks


def chunk_sizes(config: ScheduleConfig, frames: int, costs: Costs) -> list[int]:
    """The chunks an utterance of ``frames`` is cut into."""
    return [size for _, size in timeline(config, frames, costs)]


def stall_ms(config: ScheduleConfig, frames: int, costs: Costs) -> float:
    """How long playback that starts with the first chunk falls silent in all."""
    chunks = timeline(config, frames, costs)
    return uninterrupted_start_ms(chunks) - chunks[0][0] if chunks else 0.0
