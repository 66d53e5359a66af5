"""Whether a voice loses anything by streaming, measured on sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.audio import Block
from s2s.models.onnx_file import read_model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.check import (
    QUIET,
    TOLERANCE,
    TRIAL_IDS,
    decode_at_once,
    decode_in_pieces,
    difference,
    whole_audio,
)
from s2s.tts.vits.decoding import Decoding, SteppedDecoding, WindowedDecoding
from s2s.tts.vits.encoding import Encoded, encode
from s2s.tts.vits.errors import model_file_errors
from s2s.tts.vits.graph.cuts import find_inputs
from s2s.tts.vits.parts import Parts, adopt_pair, cut_voice
from s2s.tts.vits.split import Split, model_path, split_pair, split_voice
from s2s.tts.vits.windows import DEFAULT_SCHEDULE

MAX_DRIFT = 0.01
"""Part of the frame count by which a re-exported encoder may differ; more is a broken rhythm."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found."""

    path: Path
    cut: str
    """Where the voice was cut: before the flow, or at the decoder."""
    decoding: str
    """`steps` or `windows`."""
    context_frames: int
    hop_samples: int
    pieces_error: float
    """Largest difference of samples between decoding in pieces and at once."""
    whole_error: float | None
    """The same between what is streamed and the original graph, chance off; None without it."""
    frames: int
    """With chance off."""
    original_frames: int | None
    """Of the original graph; None without it."""

    @property
    def lossless(self) -> bool:
        """Decoding in pieces gives what decoding at once gives."""
        return self.pieces_error <= TOLERANCE

    @property
    def prosody_kept(self) -> bool | None:
        """The frame count is the original's; None when there is nothing to compare with."""
        if self.original_frames is None:
            return None
        return abs(self.frames - self.original_frames) <= MAX_DRIFT * self.original_frames

    @property
    def passed(self) -> bool:
        """Nothing that could be checked is wrong."""
        return self.lossless and self.prosody_kept is not False


@model_file_errors()
def verify_voice(path: str | Path, *, original: str | Path | None = None) -> Verdict:
    """Run the two checks that tell a good split from a bad one.

    Args:
        path: a single-graph voice, or `encoder.onnx` beside `decoder.onnx`.
        original: the single graph that a pair was made from, for the check of the rhythm.

    Raises:
        VoiceError, ModelFileError, CutError: as for `load_engine`.
    """
    model = model_path(Path(path))
    if model.name == "encoder.onnx":
        decoder = model.with_name("decoder.onnx")
        parts, split = (
            adopt_pair(read_model(model), read_model(decoder)),
            split_pair(model, decoder),
        )
        whole = Path(original) if original else None
    else:
        split = split_voice(model)
        parts = cut_voice(read_model(model), split.cut)
        whole = model
    pieces_error = _pieces_error(parts, split)
    encoded = _encoded(split, TRIAL_IDS)
    whole_error = original_frames = None
    if whole is not None:
        reference = whole_audio(onnx_session(whole), find_inputs(read_model(whole)), TRIAL_IDS)
        original_frames = len(reference) // split.hop
        whole_error = difference(reference, _streamed(encoded, split))
    return Verdict(
        path=model,
        cut="before the flow" if split.cut == "before_flow" else "at the decoder",
        decoding="steps" if split.steps else "windows",
        context_frames=split.context.left,
        hop_samples=split.hop,
        pieces_error=pieces_error,
        whole_error=whole_error,
        frames=encoded.total,
        original_frames=original_frames,
    )


def _pieces_error(parts: Parts, split: Split) -> float:
    """One sentence encoded, then decoded by the original operators at once and as we stream it."""
    encoded = _encoded(split, TRIAL_IDS * 8)
    fixed = {k: v for k, v in encoded.fixed.items() if k in split.decoder_inputs}
    plain = onnx_session(write_model(parts.decoder))
    once = decode_at_once(plain, encoded.frames(0, encoded.total), fixed, parts.mask)
    return difference(once, _streamed(encoded, split))


def _encoded(split: Split, ids: Sequence[int]) -> Encoded:
    """A sentence as the kept encoder has it, with all chance off."""
    session = onnx_session(split.encoder)
    rng = np.random.default_rng(0)
    return encode(session, split.cut, np.array(ids, np.int64), 0, QUIET, rng)


def _streamed(encoded: Encoded, split: Split) -> Block:
    """Its sound as the kept decoder gives it in pieces, float32 [samples]."""
    session = onnx_session(split.decoder)
    fixed = {k: v for k, v in encoded.fixed.items() if k in split.decoder_inputs}
    decoding: Decoding
    if split.steps:
        decoding = SteppedDecoding(session, split.steps, encoded.frames, encoded.total, fixed)
    else:
        decoding = WindowedDecoding(
            session,
            split.context,
            split.hop,
            encoded.frames,
            encoded.total,
            fixed,
            mask="mask" in split.decoder_inputs,
        )
    return decode_in_pieces(decoding, encoded.total, DEFAULT_SCHEDULE)
