"""Whether a cut voice still is the same voice: what its parts and the whole graph give.

Two checks. The decoder run in pieces gives what it gives at once, for the same frames; and the two
graphs one after the other give what the whole graph gives, both deterministic: without noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio import Block
from s2s.models.onnx_file import FLOAT, OnnxFile, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.decoding import Decoding, SteppedDecoding, WindowedDecoding, run
from s2s.tts.vits.encoding import Scales, encode
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.cuts import Inputs
from s2s.tts.vits.graph.stepwise import Array, Steps
from s2s.tts.vits.parts import Parts
from s2s.tts.vits.reference import Comparison, ReferenceSounds
from s2s.tts.vits.windows import Context

if TYPE_CHECKING:
    import onnxruntime

_SIZES = (1, 7, 3, 16, 2)
"""Pieces for the check: odd and small, so that every kept state is used at every length."""

QUIET = Scales(noise=0.0, length=1.0, noise_w=0.0)
"""Deterministic: no noise in the sound or the rhythm."""


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
    return run(session, decoder_feed(frames, fixed, mask))[0].reshape(-1)


def decoder_feed(
    frames: Mapping[str, Floats], fixed: Mapping[str, Array], mask: str | None
) -> dict[str, Array]:
    """Inputs of the decoder for all frames at once."""
    feed: dict[str, Array] = {**frames, **fixed}
    if mask:
        feed[mask] = np.ones((1, 1, _count(frames)), np.float32)
    return feed


def decode_in_pieces(decoding: Decoding, total: int, sizes: Sequence[int]) -> Block:
    """All pieces of an utterance of `total` frames, joined: float32 [samples]."""
    pieces: list[Block] = []
    done = 0
    while done < total:
        done += sizes[min(len(pieces), len(sizes) - 1)]
        pieces.append(decoding.until(done))
    return np.concatenate(pieces)


def compare_steps(parts: Parts, stepper: OnnxFile, steps: Steps) -> Comparison:
    """Decoding in steps against one run of the decoder."""
    frames = random_frames(parts, 2 * steps.lead + 48)
    fixed = fixed_inputs(parts)
    whole = ReferenceSounds(write_model(parts.decoder), [decoder_feed(frames, fixed, parts.mask)])
    session = onnx_session(write_model(stepper))
    stepped = SteppedDecoding(session, steps, sliced(frames), _count(frames), fixed)
    return whole.compare([decode_in_pieces(stepped, _count(frames), _SIZES)])


def compare_windows(parts: Parts, context: Context, hop: int) -> Comparison:
    """Decoding in windows against one run of the decoder."""
    frames = random_frames(parts, 2 * context.both + 24)
    fixed = fixed_inputs(parts)
    decoder = write_model(parts.decoder)
    whole = ReferenceSounds(decoder, [decoder_feed(frames, fixed, parts.mask)])
    session = onnx_session(decoder)
    windowed = WindowedDecoding(session, context, hop, sliced(frames), _count(frames), fixed)
    return whole.compare([decode_in_pieces(windowed, _count(frames), (5, 11, 8))])


def hop_of(parts: Parts) -> int:
    """Samples of a frame, from a decode of a few frames."""
    count = 8
    session = onnx_session(write_model(parts.decoder))
    audio = decode_at_once(session, random_frames(parts, count), fixed_inputs(parts), parts.mask)
    if not len(audio) or len(audio) % count:
        raise CutError(f"{count} frames give {len(audio)} samples: no whole number each")
    return len(audio) // count


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


@dataclass(frozen=True, slots=True)
class Trial:
    """A sentence to compare two graphs on, deterministic."""

    ids: tuple[int, ...]
    scales: Scales = QUIET


def sentence(phonemes: int) -> tuple[int, ...]:
    """Numbers of a sentence of random phonemes, always the same ones."""
    rng = np.random.default_rng(phonemes)
    drawn = (int(number) for number in rng.integers(3, 31, phonemes))
    return (1, 0, *(number for phoneme in drawn for number in (phoneme, 0)), 2)


TRIALS = (
    Trial(TRIAL_IDS),
    Trial(sentence(5), replace(QUIET, length=1.6)),
    Trial(sentence(20), replace(QUIET, length=0.7)),
    Trial(sentence(9), replace(QUIET, length=1.6)),
    Trial(sentence(36)),
)
"""Short and long, slow and quick: 5 s of speech. One sentence alone says little: of 18 that joe
spoke, the original graph's own spread was 3e-6 for the best and 2.5e-5 for the worst."""


def whole_feed(inputs: Inputs, trial: Trial) -> dict[str, Array]:
    """Inputs of the original graph, whose names `inputs` tells."""
    feed: dict[str, Array] = {
        inputs.ids: np.array([trial.ids], np.int64),
        inputs.lengths: np.array([len(trial.ids)], np.int64),
        inputs.scales: trial.scales.array(),
    }
    if inputs.speaker:
        feed[inputs.speaker] = np.zeros(1, np.int64)
    return feed


def parts_sounds(parts: Parts, trials: Sequence[Trial]) -> list[Block]:
    """What the two graphs say one after the other: float32 [samples] for each trial."""
    encoder = onnx_session(write_model(parts.encoder))
    decoder = onnx_session(write_model(parts.decoder))
    names = {value.name for value in parts.decoder.inputs}
    sounds: list[Block] = []
    for trial in trials:
        ids, rng = np.array(trial.ids, np.int64), np.random.default_rng(0)
        encoded = encode(encoder, parts.cut, ids, 0, trial.scales, rng)
        fixed = {name: value for name, value in encoded.fixed.items() if name in names}
        frames = encoded.frames(0, encoded.total)
        sounds.append(decode_at_once(decoder, frames, fixed, parts.mask))
    return sounds
