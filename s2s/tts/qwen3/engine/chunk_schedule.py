"""How many frames are decoded at a time: pure policy, told the time, knowing no model.

Three policies. By measured cost, the default (``edge_schedule``): a first chunk as small as this
machine can follow up, then as much as the sound that is unplayed allows, by what frames and calls
of this very utterance take. Fixed sizes and adaptive
ones as vLLM-Omni's server has them: fields and formulas carry its names (``deploy/qwen3_tts.yaml``
and ``stage_input_processors/chunk_size_utils.py``, 0.28), so that both ends can be compared on one
schedule; they are the settings of the same names. One thing is not copied: what is emitted is
always ``length - emitted``, never a modulo of the length, with which the server can send a last
full chunk twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from s2s.tts.qwen3.engine.costs import FRAME_MS, Costs, RunningCosts

_EWMA_ALPHA = 0.3
_EDGE_MOST_FRAMES = 25
_EDGE_LONGEST_CALL_MS = 250.0
_EDGE_SPARE = 0.5  # by which a chunk may take longer than it is thought to
_EDGE_RESERVES = ((0.2, 250.0), (0.1, 400.0), (0.05, 400.0), (0.02, 400.0), (0.0, 400.0))
"""What should be left of real time, and how late the first chunk may be for it
(docs/decisions/qwen3-chunks-grow.md)."""
_EDGE_START_MS = 20.0
"""How much of the first chunk should still be unplayed when the second is ready, if all goes as
measured: part of it may be cut off as silence, and the language model writes the text meanwhile."""


@dataclass(frozen=True, slots=True)
class ScheduleConfig:
    """Chunk sizes in frames.

    ``initial_codec_chunk_frames`` 0 lets the load choose the first chunk. A ramp overrides it;
    ``codec_chunk_adaptive`` overrides both. ``codec_left_context_frames`` is the window a decoder
    without state would decode again; the stateful one here never does.

    ``edge_costs`` is this project's own: chunks that grow with the sound that waits unplayed, by
    what a chunk costs on this machine; after the first it overrides everything above.
    ``edge_least_frames``: of the later chunks; 0: as many as the first has. ``edge_speed``: what is
    made is played at so many times its pace.
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
    edge_costs: Costs | None = None
    edge_least_frames: int = 0
    edge_speed: float = 1.0

    def __post_init__(self) -> None:
        if self.codec_chunk_frames < 1 or self.initial_codec_chunk_frames < 0:
            raise ValueError(
                f"chunks of {self.initial_codec_chunk_frames} and {self.codec_chunk_frames} frames"
            )
        if self.codec_chunk_ramp and not _valid_ramp(self.codec_chunk_ramp):
            raise ValueError(
                f"codec_chunk_ramp is {self.codec_chunk_ramp}: at least two sizes, each above 0"
            )


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
        self._adaptive: _Paced | _Adaptive | None = None
        if config.edge_costs is not None:
            self._adaptive = _Paced(
                config.edge_costs,
                min(first, steady),
                min(config.edge_least_frames or first, steady),
                steady,
                FRAME_MS / config.edge_speed,
            )
        elif config.codec_chunk_adaptive:
            self._adaptive = _Adaptive(config, dynamic)

    @property
    def emitted(self) -> int:
        """Frames handed out so far."""
        return self._emitted

    def made(self, took_ms: float) -> None:
        """The codes of a frame took that long: what follows is planned by it."""
        if isinstance(self._adaptive, _Paced):
            self._adaptive.made(took_ms)

    def decoded(self, frames: int, took_ms: float) -> None:
        """A call of the decoder for so many frames took that long: likewise."""
        if isinstance(self._adaptive, _Paced):
            self._adaptive.decoded(frames, took_ms)

    def silent(self, frames: int) -> None:
        """So many frames at the start were cut off as silence: nobody hears them."""
        if isinstance(self._adaptive, _Paced):
            self._adaptive.silent(frames)

    def emit(self, length: int, finished: bool, now_ms: float) -> int:
        """How many frames to decode now, 0 to wait.

        ``length`` frames exist so far, ``finished`` says there will be no more; ``now_ms`` is any
        clock that only goes forward. The frames are those from ``emitted`` to ``length``.
        """
        fresh = length - self._emitted
        if fresh <= 0:
            return 0
        if not finished and length < self._target() and not self._late(fresh, now_ms):
            return 0
        if self._adaptive is not None:
            self._adaptive.note(fresh, now_ms)
        self._emitted = length
        self._index += 1
        return fresh

    def _late(self, fresh: int, now_ms: float) -> bool:
        return isinstance(self._adaptive, _Paced) and self._adaptive.late(fresh, now_ms)

    def _target(self) -> int:
        """The length at which the next chunk goes out."""
        if self._adaptive is not None:
            return self._emitted + self._adaptive.target
        steady = self._config.codec_chunk_frames
        return ramp_cumulative(self._ramp, steady, self._index)


class _Paced:
    """Chunks as large as the sound still unplayed allows, when playback began with the first. The
    next size is settled when a chunk goes out, again when it is decoded, and given up for what is
    there when frames take longer than thought."""

    def __init__(self, costs: Costs, first: int, least: int, most: int, lasts_ms: float) -> None:
        """``lasts_ms``: what a frame lasts when it is played."""
        self._running = RunningCosts(costs)
        self._lasts_ms = lasts_ms
        self._most = most
        self._least = least
        self.target = self._opens_with = first
        self._emitted = 0  # what of it is heard
        self._noted_ms = self._free_ms = 0.0
        self._play_from_ms: float | None = None
        self._first = True

    def note(self, frames: int, now_ms: float) -> None:
        """A chunk of ``frames`` goes out now; settles ``target``, the frames of the next."""
        self._noted_ms = now_ms
        self._free_ms = max(now_ms, self._free_ms) + self._running.costs.decoded_ms(frames)
        if self._play_from_ms is None:
            self._play_from_ms = self._free_ms
        self._emitted += frames
        self._settle(now_ms)

    def made(self, took_ms: float) -> None:
        """The codes of a frame took that long."""
        self._running.made(took_ms)

    def decoded(self, frames: int, took_ms: float) -> None:
        """The chunk that went out last took that long to decode."""
        self._running.decoded(frames, took_ms)
        self._free_ms = self._noted_ms + took_ms
        if self._first:
            self._play_from_ms = self._free_ms
            self._first = False
        self._settle(self._free_ms)

    def silent(self, frames: int) -> None:
        """So many of the frames that went out are not heard; where none is, playback has yet to
        begin."""
        self._emitted -= frames
        if self._emitted <= 0:
            self._play_from_ms = None
            self._first = True
            self.target = self._opens_with
        else:
            self._settle(self._free_ms)

    def late(self, fresh: int, now_ms: float) -> bool:
        """With one frame more, the next chunk would come after playback has run dry."""
        if self._play_from_ms is None or fresh < self._least:
            return False
        costs = self._running.costs
        takes_ms = costs.codes_ms + costs.decoded_ms(fresh + 1)
        return now_ms + (1 + _EDGE_SPARE) * takes_ms > self._until_ms()

    def _until_ms(self) -> float:
        return (self._play_from_ms or 0.0) + self._emitted * self._lasts_ms

    def _settle(self, now_ms: float) -> None:
        costs, until_ms = self._running.costs, self._until_ms()
        codes_from_ms = self._noted_ms if costs.overlapped else self._free_ms
        for size in range(self._most, self._least, -1):
            decode_from_ms = max(codes_from_ms + size * costs.codes_ms, self._free_ms)
            takes_ms = decode_from_ms + costs.decoded_ms(size) - now_ms
            if now_ms + (1 + _EDGE_SPARE) * takes_ms <= until_ms:
                self.target = size
                return
        self.target = self._least


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


def uninterrupted_start_ms(chunks: Sequence[tuple[float, int]]) -> float:
    """The earliest start of playback that never runs dry.

    chunks: (arrival in ms, frames) in order of arrival. The same clock as the arrivals'.
    """
    start, before = 0.0, 0
    for arrival_ms, frames in chunks:
        start = max(start, arrival_ms - before * FRAME_MS)
        before += frames
    return start


def edge_schedule(costs: Costs, speed: float = 1.0) -> ScheduleConfig:
    """The schedule for a machine: chunks large enough that playback is kept ahead of, with
    something in reserve, and a first one that leaves time for the second; then as large as the
    sound that still waits allows (`_Paced`). The largest throughout for a machine that cannot keep
    up: it does the least work, and playback has to wait. speed: of playback.
    """
    most, lasts_ms = _most_frames(costs), FRAME_MS / speed
    wishes = (
        _least_frames(costs, most, lasts_ms * (1 - reserve), latest_ms)
        for reserve, latest_ms in _EDGE_RESERVES
    )
    least = next(filter(None, wishes), most)
    return ScheduleConfig(
        initial_codec_chunk_frames=_first_frames(costs, least, most, lasts_ms),
        codec_chunk_frames=most,
        edge_costs=costs,
        edge_least_frames=least,
        edge_speed=speed,
    )


def _least_frames(costs: Costs, most: int, frame_ms: float, latest_ms: float) -> int | None:
    """The smallest chunk whose frames take at most ``frame_ms`` each; None when there is none or a
    first one of that size comes later than ``latest_ms``."""
    keep_up = (n for n in range(1, most + 1) if costs.frame_ms(n) <= frame_ms)
    first = next(keep_up, None)
    if first is None or costs.ready_ms(0.0, 0, first) > latest_ms:
        return None
    return first


def _first_frames(costs: Costs, least: int, most: int, lasts_ms: float) -> int:
    """The smallest first chunk, at least ``least``, after which one of ``least`` comes in time."""

    def left_ms(first: int) -> float:
        at_ms = costs.ready_ms(0.0, 0, first)
        return at_ms + first * lasts_ms - costs.ready_ms(at_ms, first, least)

    return next((n for n in range(least, most) if left_ms(n) >= _EDGE_START_MS), most)


def _most_frames(costs: Costs) -> int:
    """The largest chunk: longer calls gain nothing, and delay a stop."""
    for frames in range(_EDGE_MOST_FRAMES, 1, -1):
        if costs.call_ms + frames * costs.decode_ms <= _EDGE_LONGEST_CALL_MS:
            return frames
    return 1


def _valid_ramp(ramp: Sequence[int]) -> bool:
    return len(ramp) >= 2 and all(size > 0 for size in ramp)
