"""How fast this machine decodes a voice: threads and piece sizes by a short measurement."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.arrays import Floats
from s2s.system.cpu import cores
from s2s.system.onnx import onnx_session
from s2s.tts.vits.decoding import Decoding, SteppedDecoding, WindowedDecoding
from s2s.tts.vits.graph.stepwise import Array
from s2s.tts.vits.split import Split
from s2s.tts.vits.windows import Context, fit_cost, plan

if TYPE_CHECKING:
    import onnxruntime

_SIZES = (8, 16, 32, 64)
"""Frames of the pieces that are timed, in this order."""

_SAFETIES = (2.0, 1.5, 1.1)
"""How much slower than measured the machine may get; less where it hardly keeps up at all."""

_PASSES = 3
"""Of each measurement the fastest counts: what else the machine does only adds time."""

_WORTH_A_CORE = 0.8
"""More threads must take at most this part of the time of fewer; a core is wanted elsewhere."""

LARGEST_STEP, LARGEST_WINDOW = 64, 160
"""Frames at which pieces stop growing. Small ones stay in the processor's cache: a medium Piper
decoder without state takes 0.59 ms a frame for 64 frames and 0.84 for a long sentence at once (one
Xeon core). Windows pay for their context each, so they are larger."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What suits this machine."""

    threads: int
    schedule: tuple[int, ...]
    session: onnxruntime.InferenceSession
    """The decoder, loaded with these threads."""


def measure_pace(split: Split, rate_hz: int, threads: int | None = None) -> Pace:
    """Time a few pieces of random frames, with 1, 2, 4 ... threads unless `threads` is given.

    Takes about 0.3 s for each number of threads.
    """
    best: Pace | None = None
    best_s = float("inf")
    for count in [threads] if threads else _thread_counts(cores()):
        session = onnx_session(split.decoder, threads=count)
        timed = [
            min(times)
            for times in zip(*(_time(split, session) for _ in range(_PASSES)), strict=True)
        ]
        total_s = sum(timed)
        if best is None or total_s < _WORTH_A_CORE * best_s:
            best, best_s = Pace(count, _schedule(split, timed, rate_hz), session), total_s
    assert best is not None
    return best


def _thread_counts(available: int) -> list[int]:
    counts = [1]
    while counts[-1] * 2 <= available:
        counts.append(counts[-1] * 2)
    return counts


def _schedule(split: Split, timed: list[float], rate_hz: int) -> tuple[int, ...]:
    context = Context(0, 0) if split.steps else split.context
    # The first piece has a lead of its own, so it says nothing about the rest.
    cost = fit_cost(
        (size + context.both, seconds) for size, seconds in zip(_SIZES[1:], timed[1:], strict=True)
    )
    largest = LARGEST_STEP if split.steps else LARGEST_WINDOW
    for safety in _SAFETIES:
        sizes = plan(
            cost, split.hop / rate_hz, context, first=_SIZES[0], largest=largest, safety=safety
        )
        if sizes[-1] == largest:
            return sizes
    # Too slow to keep up at any size: then large pieces at least waste the least.
    return (*_SIZES[:-1], largest)


def _time(split: Split, session: onnxruntime.InferenceSession) -> list[float]:
    """Seconds for each of `_SIZES`."""
    rng = np.random.default_rng(0)
    decoding = _decoding(split, session, rng)
    seconds: list[float] = []
    done = 0
    for size in _SIZES:
        done += size
        begin = time.perf_counter()
        decoding.until(done)
        seconds.append(time.perf_counter() - begin)
    return seconds


def _decoding(
    split: Split, session: onnxruntime.InferenceSession, rng: np.random.Generator
) -> Decoding:
    names = ("mean", "log_std", "noise") if split.cut == "before_flow" else ("latent",)
    total = sum(_SIZES) + 4 * split.context.both
    values = rng.standard_normal((1, split.channels, total), np.float32)

    def frames(first: int, last: int) -> dict[str, Floats]:
        return dict.fromkeys(names, values[:, :, first:last] * np.float32(0.1))

    fixed: dict[str, Array] = {}
    for value in session.get_inputs():
        if value.name == "scales":
            fixed["scales"] = np.array([0.667, 1.0, 0.8], np.float32)
        elif value.name == "speaker":
            fixed["speaker"] = np.zeros(1, np.int64)
        elif value.name == "speaker_embedding":
            shape = [int(size or 1) for size in value.shape]
            fixed["speaker_embedding"] = np.zeros(shape, np.float32)
    if split.steps:
        return SteppedDecoding(session, split.steps, frames, total, fixed)
    return WindowedDecoding(session, split.context, split.hop, frames, total, fixed)
