"""Whether a voice loses anything by streaming, measured on sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.audio import Block
from s2s.models.onnx_file import read_model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.check import TRIALS, Trial, decode_in_pieces, decoder_feed, whole_feed
from s2s.tts.vits.decoding import Decoding, SteppedDecoding, WindowedDecoding
from s2s.tts.vits.encoding import Encoded, encode
from s2s.tts.vits.errors import model_file_errors
from s2s.tts.vits.graph.cuts import find_inputs
from s2s.tts.vits.parts import Parts, adopt_pair, cut_voice
from s2s.tts.vits.reference import Comparison, ReferenceSounds
from s2s.tts.vits.split import Split, decoder_beside, model_path, split_pair, split_voice
from s2s.tts.vits.windows import DEFAULT_SCHEDULE

MAX_DRIFT = 0.01
"""Part of the frame count by which a re-exported encoder may differ; more is a broken rhythm."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found."""

    path: Path
    cut: str
    """Where the voice was cut: before the flow, or at the decoder."""
    decoding: str
    """`steps` or `windows`."""
    context_frames: int
    hop_samples: int
    pieces: Comparison
    """Decoding in pieces against at once, by the original operators."""
    whole: Comparison | None
    """What is streamed against the original graph, deterministic; None without it."""
    cut_here: bool
    """The voice was cut out of the original graph by this program, not exported anew as a pair."""
    frames: int
    """Of the first sentence, deterministic."""
    original_frames: int | None
    """Of the original graph; None without it."""

    @property
    def lossless(self) -> bool:
        """Decoding in pieces gives what decoding at once gives."""
        return self.pieces.same

    @property
    def faithful(self) -> bool | None:
        """What is streamed is the original graph's sound; None for a voice that was exported anew,
        which may round or time a sentence otherwise, and without a graph to compare with."""
        return self.whole.same if self.whole is not None and self.cut_here else None

    @property
    def prosody_kept(self) -> bool | None:
        """The frame count is the original's; None when there is nothing to compare with."""
        if self.original_frames is None:
            return None
        return abs(self.frames - self.original_frames) <= MAX_DRIFT * self.original_frames

    @property
    def passed(self) -> bool:
        """Nothing that could be checked is wrong."""
        return self.lossless and self.faithful is not False and self.prosody_kept is not False


@model_file_errors()
def verify_voice(path: str | Path, *, original: str | Path | None = None) -> Verification:
    """Run the two checks that tell a good split from a bad one.

    Args:
        path: a single-graph voice, or `encoder.onnx` beside `decoder.onnx`.
        original: the single graph that a pair was made from, for the check of the rhythm.

    Raises:
        VitsVoiceError, VitsFileError, CutError: as for `load_engine`.
    """
    model = model_path(Path(path))
    decoder = decoder_beside(model)
    if decoder is not None:
        parts = adopt_pair(read_model(model), read_model(decoder))
        split = split_pair(model, decoder)
        whole = Path(original) if original else None
    else:
        split = split_voice(model)
        parts = cut_voice(read_model(model), split.cut)
        whole = model
    encoded = [_encoded(split, trial) for trial in TRIALS]
    streamed = [_streamed(each, split) for each in encoded]
    pieces = _compare_pieces(parts, encoded, streamed)
    against = original_frames = None
    if whole is not None:
        inputs = find_inputs(read_model(whole))
        reference = ReferenceSounds(whole, [whole_feed(inputs, trial) for trial in TRIALS])
        original_frames = len(reference.sounds[0]) // split.hop
        against = reference.compare(streamed)
    return Verification(
        path=model,
        cut="before the flow" if split.cut == "before_flow" else "at the decoder",
        decoding="steps" if split.steps else "windows",
        context_frames=split.context.left,
        hop_samples=split.hop,
        pieces=pieces,
        whole=against,
        cut_here=decoder is None,
        frames=encoded[0].total,
        original_frames=original_frames,
    )


def _compare_pieces(
    parts: Parts, encoded: Sequence[Encoded], streamed: Sequence[Block]
) -> Comparison:
    """Encoded sentences decoded by the original operators at once, and as we stream them."""
    names = {value.name for value in parts.decoder.inputs}
    feeds = [
        decoder_feed(
            each.frames(0, each.total),
            {name: value for name, value in each.fixed.items() if name in names},
            parts.mask,
        )
        for each in encoded
    ]
    return ReferenceSounds(write_model(parts.decoder), feeds).compare(streamed)


def _encoded(split: Split, trial: Trial) -> Encoded:
    """A sentence as the kept encoder has it."""
    session = onnx_session(split.encoder)
    rng = np.random.default_rng(0)
    return encode(session, split.cut, np.array(trial.ids, np.int64), 0, trial.scales, rng)


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
        )
    return decode_in_pieces(decoding, encoded.total, DEFAULT_SCHEDULE)
