"""A voice that speaks phonemes as a stream. The one loop for every kind of voice.

An engine is shared by all utterances and threads: it holds two sessions and no state. What belongs
to one utterance lies in `Utterance`. Knows nothing about text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.audio import Block
from s2s.models.onnx_file import read_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.decoding import Decoding, SteppedDecoding, WindowedDecoding, run
from s2s.tts.vits.encoding import Encoded, Scales, encode
from s2s.tts.vits.errors import CutError, SpeechError, model_file_errors
from s2s.tts.vits.graph.cuts import Inputs, find_inputs
from s2s.tts.vits.graph.stepwise import Array
from s2s.tts.vits.pace import Pace, measure_pace
from s2s.tts.vits.split import Split, decoder_beside, model_path, prepare_voice
from s2s.tts.vits.voice import VoiceConfig, config_path, read_config
from s2s.tts.vits.windows import Context

_log = logging.getLogger(__name__)


def never() -> bool:
    """A `stop` that never stops."""
    return False


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of an utterance's sound."""

    samples: Block
    """float32 [samples]"""
    start_sample: int
    """Where it begins in the utterance."""
    last: bool


class Utterance:
    """One sentence on its way out of the voice."""

    def __init__(
        self,
        decoding: Decoding,
        frames: int,
        durations: npt.NDArray[np.int64] | None,
        schedule: Sequence[int],
        hop: int,
    ) -> None:
        self.frames = frames
        """Length in frames."""
        self._decoding = decoding
        self._durations = durations
        self._schedule = schedule
        self._hop = hop

    @property
    def samples(self) -> int:
        """Length in samples, known before the first of them is made."""
        return self.frames * self._hop

    @property
    def ends(self) -> npt.NDArray[np.int64] | None:
        """Sample at which each phoneme number ends, int64 [phonemes]; None when not known."""
        return None if self._durations is None else np.cumsum(self._durations) * self._hop

    def pieces(self, stop: Callable[[], bool] = never) -> Iterator[Piece]:
        """The sound, piece by piece. To be called once.

        Args:
            stop: asked before every piece; when true the iterator ends.
        """
        made = 0
        asked = 0
        for size in chain(self._schedule, repeat(self._schedule[-1])):
            if asked >= self.frames or stop():
                return
            asked += size
            samples = self._decoding.until(asked)
            if len(samples):
                start, made = made, made + len(samples)
                yield Piece(samples, start, last=made >= self.samples)


class VitsEngine:
    """A loaded voice. Thread-safe: `begin` and the pieces of different utterances may overlap."""

    sample_rate_hz: int
    hop: int

    def __init__(self, config: VoiceConfig, split: Split, *, threads: int | None = None) -> None:
        """
        Args:
            config: the voice's config.
            split: its two graphs.
            threads: for both graphs; None measures which of 1 to all cores is fastest.
        """
        self.config = config
        self.split = split
        self.sample_rate_hz = config.sample_rate_hz
        self.hop = split.hop
        wishes = config.streaming
        pace = measure_pace(split, config.sample_rate_hz, threads or wishes.threads)
        self.pace: Pace = replace(pace, schedule=wishes.schedule or pace.schedule)
        self._decoder = pace.session
        self._encoder = onnx_session(split.encoder, threads=pace.threads)
        context = wishes.context_margin
        self._context = split.context if context is None else Context(context, context)

    def begin(
        self,
        ids: Sequence[int],
        *,
        speaker: int = 0,
        scales: Scales | None = None,
        seed: int | None = None,
        schedule: Sequence[int] | None = None,
    ) -> Utterance:
        """Run the encoder over one sentence.

        Args:
            ids: the sentence's phoneme numbers.
            speaker: number of the speaker.
            scales: how to speak; None is as the voice's config says.
            seed: makes the speech repeatable; None draws anew. A voice cut at the latent draws
                inside its encoder, to which no seed is given.
            schedule: frames of each piece; None is what suits this machine.

        Raises:
            SpeechError: the voice can't say this.
        """
        _check_ids(ids)
        try:
            encoded = encode(
                self._encoder,
                self.split.cut,
                np.array(ids, np.int64),
                speaker,
                scales or self.config.scales,
                np.random.default_rng(seed),
            )
        except SpeechError as error:
            raise SpeechError(self.config.misfit(str(error), speaker)) from error
        sizes = tuple(schedule or self.pace.schedule)
        if encoded.total <= self.config.streaming.fallback_frames:
            sizes = (encoded.total,)
        return Utterance(self._decoding(encoded), encoded.total, encoded.durations, sizes, self.hop)

    def _decoding(self, encoded: Encoded) -> Decoding:
        names = self.split.decoder_inputs
        fixed: dict[str, Array] = {k: v for k, v in encoded.fixed.items() if k in names}
        steps = self.split.steps
        if steps is not None:
            return SteppedDecoding(self._decoder, steps, encoded.frames, encoded.total, fixed)
        return WindowedDecoding(
            self._decoder,
            self._context,
            self.hop,
            encoded.frames,
            encoded.total,
            fixed,
        )


class OneShotEngine:
    """A voice that can't be cut: each sentence is one piece."""

    def __init__(self, config: VoiceConfig, model: Path, inputs: Inputs, threads: int) -> None:
        self.config = config
        self.sample_rate_hz = config.sample_rate_hz
        self._inputs = inputs
        # Without an arena: its peak would grow with the longest sentence ever said and stay.
        self._session = onnx_session(model, threads=threads, arena=False)

    def begin(
        self,
        ids: Sequence[int],
        *,
        speaker: int = 0,
        scales: Scales | None = None,
        seed: int | None = None,
        schedule: Sequence[int] | None = None,
    ) -> Utterance:
        """Say one sentence. As `VitsEngine.begin`, but seed and schedule do nothing."""
        del seed, schedule
        _check_ids(ids)
        names = self._inputs
        feed: dict[str, Array] = {
            names.ids: np.array([ids], np.int64),
            names.lengths: np.array([len(ids)], np.int64),
            names.scales: (scales or self.config.scales).array(),
        }
        if names.speaker:
            feed[names.speaker] = np.array([speaker], np.int64)
        try:
            samples = run(self._session, feed)[0].reshape(-1)
        except SpeechError as error:
            raise SpeechError(self.config.misfit(str(error), speaker)) from error
        return Utterance(_Spoken(samples), len(samples), None, (max(1, len(samples)),), hop=1)


class _Spoken:
    """Sound that is there already: one sample a frame."""

    def __init__(self, samples: Block) -> None:
        self._samples = samples

    def until(self, stop: int) -> Block:
        """All of it."""
        del stop
        samples, self._samples = self._samples, self._samples[:0]
        return samples


AnyVitsEngine = VitsEngine | OneShotEngine


@model_file_errors()
def load_engine(
    path: str | Path,
    *,
    config: str | Path | None = None,
    threads: int | None = None,
    cache: Path | None = None,
) -> AnyVitsEngine:
    """Load a voice; one that can't be cut speaks each sentence in one piece, and the log says why.

    Args:
        path: a single-graph voice `.onnx`, or `encoder.onnx` beside a `decoder.onnx`, or a folder
            with either.
        config: the voice's JSON; None looks beside the model.
        threads: None measures what is fastest here.
        cache: for what was cut, when the voice's own folder can't be written.

    Raises:
        VitsVoiceError: no voice there, or a config that can't be used.
        VitsFileError: a file that is not a usable ONNX model.
        CutError: two graphs that don't fit together, or a graph that is no VITS voice at all.
    """
    model = model_path(Path(path))
    settings = read_config(config or config_path(model))
    try:
        split = prepare_voice(model, cache=cache)
    except CutError as reason:
        if decoder_beside(model) is not None:
            raise
        inputs = find_inputs(read_model(model))
        _log.warning("%s cannot stream and speaks sentence by sentence: %s", model.name, reason)
        return OneShotEngine(settings, model, inputs, threads or settings.streaming.threads or 1)
    return VitsEngine(settings, split, threads=threads)


def _check_ids(ids: Sequence[int]) -> None:
    if not len(ids):
        raise SpeechError("nothing to say: the sentence has no phonemes that the voice knows")
