"""Whether a cut voice still is the same voice: numbers, not trust.

Two checks. The decoder run in pieces gives what it gives at once, for the same frames; and the two
graphs one after the other give what the whole graph gives, with all chance switched off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio import Block
from s2s.models.onnx_file import FLOAT, Model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.decoding import Decoding, SteppedDecoding, WindowedDecoding, run
from s2s.tts.vits.encoding import Scales, encode
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.cuts import Inputs
from s2s.tts.vits.graph.stepwise import Array, Steps
from s2s.tts.vits.parts import Parts
from s2s.tts.vits.windows import Context

if TYPE_CHECKING:
    import onnxruntime

TOLERANCE = 1e-5
"""Largest absolute difference of samples that counts as the same sound (float32 rounding)."""

_SIZES = (1, 7, 3, 16, 2)
"""Pieces for the check: odd and small, so that every kept state is used at every length."""

QUIET = Scales(noise=0.0, length=1.0, noise_w=0.0)
"""No chance at all."""


def random_frames(parts: Parts, count: int, seed: int = 1) -> dict[str, Floats]:
    """Inputs of the decoder along time, drawn at random: name -> float32 [1, channels, count]."""
    rng = np.random.default_rng(seed)
    frames = {
        name: rng.standard_normal((1, channels, count), np.float32)
        for name, channels in parts.moving.items()
    }
    if "log_std" in frames:
        frames["log_std"] *= np.float32(0.1)
    return frames


def fixed_inputs(parts: Parts, seed: int = 2) -> dict[str, Array]:
    """Inputs of the decoder that don't run along time: scales, and a speaker drawn at random."""
    rng = np.random.default_rng(seed)
    fixed: dict[str, Array] = {}
    for value in parts.decoder.inputs:
        if value.name in parts.moving or value.name == "mask":
            continue
        if value.name == "scales":
            fixed[value.name] = np.array([0.667, 1.0, 0.8], np.float32)
        elif value.item_type == FLOAT:
            shape = [dim if isinstance(dim, int) else 1 for dim in value.shape]
            fixed[value.name] = rng.standard_normal(shape, np.float32) * np.float32(0.1)
        else:
            fixed[value.name] = np.zeros(1, np.int64)
    return fixed


def decode_at_once(
    session: onnxruntime.InferenceSession,
    frames: Mapping[str, Floats],
    fixed: Mapping[str, Array],
    mask: str | None,
) -> Block:
    """The decoder run once over all frames: float32 [samples]."""
    feed: dict[str, Array] = {**frames, **fixed}
    if mask:
        feed[mask] = np.ones((1, 1, _count(frames)), np.float32)
    return run(session, feed)[0].reshape(-1)


def decode_in_pieces(decoding: Decoding, total: int, sizes: Sequence[int]) -> Block:
    """All pieces of an utterance of `total` frames, joined: float32 [samples]."""
    pieces: list[Block] = []
    done = 0
    while done < total:
        done += sizes[min(len(pieces), len(sizes) - 1)]
        pieces.append(decoding.until(done))
    return np.concatenate(pieces)


def stepwise_error(parts: Parts, stepper: Model, steps: Steps) -> float:
    """Largest difference between steps and one run; inf when the lengths differ."""
    frames = random_frames(parts, 2 * steps.lead + 48)
    fixed = fixed_inputs(parts)
    whole = decode_at_once(onnx_session(write_model(parts.decoder)), frames, fixed, parts.mask)
    session = onnx_session(write_model(stepper))
    stepped = SteppedDecoding(session, steps, sliced(frames), _count(frames), fixed)
    return difference(whole, decode_in_pieces(stepped, _count(frames), _SIZES))


def windowed_error(parts: Parts, context: Context, hop: int) -> float:
    """Largest difference between windows and one run; inf when the lengths differ."""
    frames = random_frames(parts, 2 * context.both + 24)
    fixed = fixed_inputs(parts)
    session = onnx_session(write_model(parts.decoder))
    whole = decode_at_once(session, frames, fixed, parts.mask)
    windowed = WindowedDecoding(
        session, context, hop, sliced(frames), _count(frames), fixed, parts.mask is not None
    )
    return difference(whole, decode_in_pieces(windowed, _count(frames), (5, 11, 8)))


def hop_of(parts: Parts) -> int:
    """Samples of a frame, from a decode of a few frames."""
    count = 8
    session = onnx_session(write_model(parts.decoder))
    audio = decode_at_once(session, random_frames(parts, count), fixed_inputs(parts), parts.mask)
    if not len(audio) or len(audio) % count:
        raise CutError(f"{count} frames give {len(audio)} samples: no whole number each")
    return len(audio) // count


def difference(one: Block, other: Block) -> float:
    """Largest absolute difference; inf for different lengths or numbers that are none."""
    if one.shape != other.shape or not np.isfinite(other).all():
        return float("inf")
    return float(np.abs(one - other).max(initial=0.0))


def sliced(frames: Mapping[str, Floats]) -> FramesOf:
    """`frames` as the function that a decoding asks for its frames."""
    return FramesOf(frames)


class FramesOf:
    """Frames that are all there already."""

    def __init__(self, frames: Mapping[str, Floats]) -> None:
        self._frames = frames

    def __call__(self, first: int, last: int) -> dict[str, Floats]:
        """The frames [first, last)."""
        return {name: value[:, :, first:last] for name, value in self._frames.items()}


def _count(frames: Mapping[str, Floats]) -> int:
    return next(iter(frames.values())).shape[2]


# --- against the whole graph -------------------------------------------------------------------


TRIAL_IDS = (1, 0, 14, 0, 20, 0, 17, 0, 3, 0, 24, 0, 28, 0, 10, 0, 2)
"""Some phoneme numbers, framed and spaced as Piper does; every voice knows numbers up to 30."""


def whole_audio(session: onnxruntime.InferenceSession, inputs: Inputs, ids: Sequence[int]) -> Block:
    """What the original graph says with all chance off: float32 [samples].

    Args:
        session: the whole voice.
        inputs: its names for ids, lengths, scales and speaker.
        ids: phoneme numbers.
    """
    feed: dict[str, Array] = {
        inputs.ids: np.array([ids], np.int64),
        inputs.lengths: np.array([len(ids)], np.int64),
        inputs.scales: QUIET.array(),
    }
    if inputs.speaker:
        feed[inputs.speaker] = np.zeros(1, np.int64)
    return run(session, feed)[0].reshape(-1)


def parts_audio(parts: Parts, ids: Sequence[int]) -> tuple[Block, int]:
    """What the two graphs say one after the other with all chance off: (samples, frames)."""
    encoder = onnx_session(write_model(parts.encoder))
    rng = np.random.default_rng(0)
    encoded = encode(encoder, parts.cut, np.array(ids, np.int64), 0, QUIET, rng)
    decoder = onnx_session(write_model(parts.decoder))
    names = {value.name for value in parts.decoder.inputs}
    fixed = {name: value for name, value in encoded.fixed.items() if name in names}
    frames = encoded.frames(0, encoded.total)
    return decode_at_once(decoder, frames, fixed, parts.mask), encoded.total
