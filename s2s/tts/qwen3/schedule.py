"""How many frames are decoded at a time: pure policy, told the time, knowing no model.

Fields and formulas carry the names of vLLM-Omni's server (``deploy/qwen3_tts.yaml`` and
``stage_input_processors/chunk_size_utils.py``, 0.28), so that both ends can be compared on one
schedule. One thing is not copied: what is emitted is always ``length - emitted``, never a modulo
of the length, with which the server can send a last full chunk twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

FRAME_MS = 80.0
_EWMA_ALPHA = 0.3
_EDGE_MOST_FRAMES = 25
_EDGE_LONGEST_CALL_MS = 250.0
_EDGE_SPARE_MS = 50.0
_EDGE_FRAMES = 125  # ten seconds
_EDGE_EXACT_MS = 0.25
_ROUNDING_MS = 1e-6


@dataclass(frozen=True, slots=True)
class ScheduleConfig:
    """Chunk sizes in frames.

    ``initial_codec_chunk_frames`` 0 lets the load choose the first chunk. A ramp overrides it;
    ``codec_chunk_adaptive`` overrides both. ``codec_left_context_frames`` is the window a decoder
    without state would decode again; the stateful one here never does.
    """

    initial_codec_chunk_frames: int = 1
    codec_chunk_frames: int = 25
    codec_chunk_ramp: tuple[int, ...] = ()
    codec_chunk_adaptive: bool = False
    codec_chunk_min_frames: int = 2
    codec_chunk_safety_margin_ms: float = 50.0
    codec_chunk_ramp_divisor: int = 15
    codec_chunk_ramp_delta_min: int = 2
    codec_left_context_frames: int = 72

    def __post_init__(self) -> None:
        if self.codec_chunk_frames < 1 or self.initial_codec_chunk_frames < 0:
            raise ValueError(
                f"chunks of {self.initial_codec_chunk_frames} and {self.codec_chunk_frames} frames"
            )
        if self.codec_chunk_ramp and not _valid_ramp(self.codec_chunk_ramp):
            raise ValueError(
                f"codec_chunk_ramp is {self.codec_chunk_ramp}: at least two sizes, each above 0"
            )


def parse_chunk_ramp(text: str) -> tuple[int, ...]:
    """A ramp written as "2,4,8". Raises ValueError unless it has two sizes or more, all above 0."""
    try:
        ramp = tuple(int(part) for part in text.split(","))
    except ValueError:
        ramp = ()
    if not _valid_ramp(ramp):
        raise ValueError(f"{text!r} is no ramp: write at least two sizes above 0, as in 2,4,8")
    return ramp


def max_ic_for_chunk_size(codec_chunk_frames: int) -> int:
    """The largest dynamic first chunk: the largest power of two below the steady size."""
    return 1 if codec_chunk_frames <= 2 else 1 << (codec_chunk_frames - 1).bit_length() - 1


def compute_dynamic_initial_chunk_size(active: int, max_num_seqs: int, max_ic: int) -> int:
    """The first chunk by load: 2 frames when idle, ``max_ic`` when every place is taken."""
    steps = [2**power for power in range(1, max_ic.bit_length())] or [max_ic]
    if max_num_seqs <= 0:
        return steps[0]
    load = min(active / max_num_seqs, 1.0)
    return steps[round(load * (len(steps) - 1))]


def ramp_chunk_size(ramp: Sequence[int], codec_chunk_frames: int, index: int) -> int:
    """Frames of chunk ``index``."""
    return ramp[index] if index < len(ramp) else codec_chunk_frames


def ramp_cumulative(ramp: Sequence[int], codec_chunk_frames: int, index: int) -> int:
    """Frames up to and with chunk ``index``."""
    beyond = max(0, index + 1 - len(ramp))
    return sum(ramp[: index + 1]) + beyond * codec_chunk_frames


def ramp_decode_windows(ramp: Sequence[int], codec_left_context_frames: int) -> list[int]:
    """Frames a decoder without state would decode for each chunk of the ramp."""
    before = [0, *accumulate(ramp)]
    return [
        size + min(emitted, codec_left_context_frames)
        for size, emitted in zip(ramp, before, strict=False)
    ]


class ChunkSchedule:
    """Decides, frame by frame, when one utterance's frames go to the decoder."""

    def __init__(self, config: ScheduleConfig, active: int = 0, max_num_seqs: int = 1) -> None:
        """``active`` of ``max_num_seqs`` places are taken: the load, for a dynamic first chunk."""
        self._config = config
        self._emitted = 0
        self._index = 0
        steady = config.codec_chunk_frames
        dynamic = compute_dynamic_initial_chunk_size(
            active, max_num_seqs, max_ic_for_chunk_size(steady)
        )
        first = config.initial_codec_chunk_frames or dynamic
        self._ramp: Sequence[int] = config.codec_chunk_ramp or (min(first, steady),)
        self._adaptive = _Adaptive(config, dynamic) if config.codec_chunk_adaptive else None

    @property
    def emitted(self) -> int:
        """Frames handed out so far."""
        return self._emitted

    def emit(self, length: int, finished: bool, now_ms: float) -> int:
        """How many frames to decode now, 0 to wait.

        ``length`` frames exist so far, ``finished`` says there will be no more; ``now_ms`` is any
        clock that only goes forward. The frames are those from ``emitted`` to ``length``.
        """
        fresh = length - self._emitted
        if fresh <= 0:
            return 0
        if not finished and length < self._target():
            return 0
        if self._adaptive is not None:
            self._adaptive.note(fresh, now_ms)
        self._emitted = length
        self._index += 1
        return fresh

    def _target(self) -> int:
        """The length at which the next chunk goes out."""
        if self._adaptive is not None:
            return self._emitted + self._adaptive.target
        steady = self._config.codec_chunk_frames
        return ramp_cumulative(self._ramp, steady, self._index)


class _Adaptive:
    """vLLM-Omni's AdaptiveChunkController: as large as the audio still unplayed allows, never
    shrinking. The next size is settled when a chunk goes out."""

    def __init__(self, config: ScheduleConfig, first: int) -> None:
        self._config = config
        self.target = min(first, config.codec_chunk_frames)
        self._ewma_ms = 0.0
        self._emitted = 0
        self._first_ms: float | None = None
        self._last_ms = 0.0

    def note(self, frames: int, now_ms: float) -> None:
        """A chunk of ``frames`` goes out now; settles ``target``, the frames of the next."""
        if self._first_ms is None:
            self._first_ms = now_ms
        else:
            measured = (now_ms - self._last_ms) / frames
            smoothed = _EWMA_ALPHA * measured + (1 - _EWMA_ALPHA) * self._ewma_ms
            self._ewma_ms = smoothed if self._ewma_ms else measured
        self._last_ms = now_ms
        self._emitted += frames
        self.target = self._next(self._emitted * FRAME_MS - (now_ms - self._first_ms))

    def _next(self, buffer_ms: float) -> int:
        config, steady = self._config, self._config.codec_chunk_frames
        margin = config.codec_chunk_safety_margin_ms
        if self._ewma_ms > 0 and buffer_ms >= steady * self._ewma_ms + margin:
            return steady
        affordable = config.codec_chunk_min_frames
        if self._ewma_ms > 0:
            affordable = int(max(0.0, buffer_ms - margin) / self._ewma_ms)
        greedy = min(max(affordable, config.codec_chunk_min_frames), steady)
        delta = max(
            config.codec_chunk_ramp_delta_min,
            int(self._ewma_ms / config.codec_chunk_ramp_divisor),
        )
        return min(max(self.target + delta, greedy), steady)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a machine needs, in milliseconds.

    codes_ms: the codes of one frame. call_ms, decode_ms: a call of the decoder, and each frame in
    it. together: codes are made while others are decoded; else the two take turns.
    """

    codes_ms: float
    call_ms: float = 0.0
    decode_ms: float = 0.0
    together: bool = False

    @classmethod
    def measured(
        cls, codes_ms: float, calls: Sequence[tuple[int, float]], together: bool = False
    ) -> Costs:
        """From calls of the decoder: (frames, milliseconds). The line through the medians of the
        smallest and the largest; calls of one size only leave ``call_ms`` at 0."""
        if not calls:
            return cls(codes_ms, together=together)
        small, large = min(calls)[0], max(calls)[0]
        small_ms = median(took_ms for frames, took_ms in calls if frames == small)
        large_ms = median(took_ms for frames, took_ms in calls if frames == large)
        if small == large:
            return cls(codes_ms, 0.0, small_ms / small, together)
        decode_ms = min(max(0.0, (large_ms - small_ms) / (large - small)), large_ms / large)
        return cls(codes_ms, max(0.0, large_ms - large * decode_ms), decode_ms, together)

    def frame_ms(self, frames: int) -> float:
        """One frame of many, in chunks of ``frames``: below FRAME_MS sound is made in real time."""
        decoded_ms = self._call(frames) / frames
        if self.together:
            return max(self.codes_ms, decoded_ms)
        return self.codes_ms + decoded_ms

    def ready_ms(self, free_ms: float, emitted: int, frames: int) -> float:
        """When a chunk is ready that follows ``emitted`` frames, the last of which was ready at
        ``free_ms``."""
        if self.together:
            return max((emitted + frames) * self.codes_ms, free_ms) + self._call(frames)
        return free_ms + frames * self.codes_ms + self._call(frames)

    def _call(self, frames: int) -> float:
        return self.call_ms + frames * self.decode_ms


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
        if not costs.together:
            before, since_ms = length, free_ms
    return chunks


def chunk_sizes(config: ScheduleConfig, frames: int, costs: Costs) -> list[int]:
    """The chunks an utterance of ``frames`` is cut into."""
    return [size for _, size in timeline(config, frames, costs)]


def stall_ms(config: ScheduleConfig, frames: int, costs: Costs) -> float:
    """How long playback that starts with the first chunk falls silent in all."""
    chunks = timeline(config, frames, costs)
    return uninterrupted_start_ms(chunks) - chunks[0][0] if chunks else 0.0


def uninterrupted_start_ms(chunks: Sequence[tuple[float, int]]) -> float:
    """The earliest start of playback that never runs dry.

    chunks: (arrival in ms, frames) in order of arrival. The same clock as the arrivals'.
    """
    start, before = 0.0, 0
    for arrival_ms, frames in chunks:
        start = max(start, arrival_ms - before * FRAME_MS)
        before += frames
    return start


def edge_schedule(costs: Costs, later_ms: float = 0.0) -> ScheduleConfig:
    """The schedule for a machine: the earliest uninterrupted start, then the earliest first chunk,
    then the largest chunks that never outrun playback. The largest throughout for a machine that
    cannot keep up: it does the least work, and whoever plays has to wait.

    Two latencies pull apart where a call of the decoder costs something whatever is in it: tiny
    chunks come early and run dry, chunks that last come late. ``later_ms`` is by how much the
    uninterrupted start may be missed for an earlier first chunk. Nothing is kept for a machine
    that is slower at times; for that, give the costs of its slower moments.
    """
    most = _most_frames(costs)
    if costs.frame_ms(most) > FRAME_MS:  # no start is early enough: as little work as can be
        return ScheduleConfig(initial_codec_chunk_frames=most, codec_chunk_frames=most)
    start_ms = _earliest_start_ms(costs) + later_ms
    found = (_growing(costs, start_ms, first) for first in range(1, most + 1))
    sizes = next(filter(None, found))
    steady = sizes[-1]
    while sizes and sizes[-1] == steady:
        sizes.pop()
    if len(sizes) < 2:
        first = sizes[0] if sizes else steady
        return ScheduleConfig(initial_codec_chunk_frames=first, codec_chunk_frames=steady)
    return ScheduleConfig(codec_chunk_ramp=(*sizes, steady), codec_chunk_frames=steady)


def _most_frames(costs: Costs) -> int:
    """The largest chunk: longer calls gain nothing, and nobody can stop them."""
    for frames in range(_EDGE_MOST_FRAMES, 1, -1):
        if costs.call_ms + frames * costs.decode_ms <= _EDGE_LONGEST_CALL_MS:
            return frames
    return 1


def _earliest_start_ms(costs: Costs) -> float:
    """Bisected to a quarter of a millisecond: the larger the chunks, the better for what follows,
    so a start is possible when the largest chunks that are in time for it never run out."""
    most = _most_frames(costs)

    def possible(start_ms: float) -> bool:
        fits = (n for n in range(most, 0, -1) if costs.ready_ms(0.0, 0, n) <= start_ms)
        first = next(fits, None)
        return first is not None and bool(_growing(costs, start_ms, first))

    early, late = 0.0, costs.ready_ms(0.0, 0, most)
    while late - early > _EDGE_EXACT_MS:
        middle = (early + late) / 2
        early, late = (early, middle) if possible(middle) else (middle, late)
    return late


def _growing(costs: Costs, start_ms: float, first: int) -> list[int]:
    """The largest chunks that never run dry when playback starts at ``start_ms``; empty when there
    are none. Beyond the smallest size that keeps up with playback only with time to spare."""
    most = _most_frames(costs)
    lasting = next((n for n in range(1, most) if costs.frame_ms(n) <= FRAME_MS), most)
    free_ms = costs.ready_ms(0.0, 0, first)
    if free_ms > start_ms:
        return []
    sizes, emitted = [first], first
    while emitted < _EDGE_FRAMES:
        until_ms = start_ms + emitted * FRAME_MS
        for size in range(most, 0, -1):
            spare_ms = _EDGE_SPARE_MS if size > lasting else 0.0
            ready_ms = costs.ready_ms(free_ms, emitted, size)
            if ready_ms + spare_ms <= until_ms + _ROUNDING_MS:
                break
        else:
            return []
        free_ms, emitted = ready_ms, emitted + size
        sizes.append(size)
    return sizes if sizes[-1] >= lasting else []


def _valid_ramp(ramp: Sequence[int]) -> bool:
    return len(ramp) >= 2 and all(size > 0 for size in ramp)
