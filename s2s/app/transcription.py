"""The command `transcribe`: what is said in each file, one line a file, one file at a time.

A file that cannot be used is told and the next one follows. A recogniser makes words up where there
are none ("Thank you for watching" in music), so it is shown only what the voice detector takes for
speech.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.config import registry
from s2s.config.loader import Config
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, AudioError, Block, Framer, read_wav
from s2s.core.audio.gain import level_hint, raised
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import SttError, Transcriber
from s2s.turns.base import Vad, VadModel
from s2s.turns.vad import SileroVad

log = logging.getLogger(__name__)

SPEECH = 0.5
"""Probability of a window that holds speech."""
SPEECH_WINDOWS = 3
"""So many of them make a region: a tenth of a second, less than the shortest word. A chord that
swells like syllables reaches two."""
MAYBE_SPEECH = 0.25
"""A region goes on while windows reach this."""
GAP_S = 3.0
"""A pause as long as this parts two regions."""
MARGIN_S = 0.7
"""Kept around a region, for sounds that the detector is late for."""


def transcribe(config: Config, store: Store, files: Iterable[Path]) -> int:
    """Print what is said in each file as soon as it is known; 1 when one could not be read."""
    failed = False
    vad: VadModel | None = None
    transcriber: Transcriber | None = None
    try:
        for file in files:
            try:
                recording = read_wav(file, PIPELINE_HZ)[0]
                if vad is None or transcriber is None:  # not before there is something to hear
                    vad, transcriber = _open_vad(config, store), _open(config, store)
                print(_written(file, recording, vad, transcriber, config), flush=True)
            except (AudioError, SttError) as error:
                failed = True
                log.debug("failed", exc_info=error)
                named = str(error) if str(file) in str(error) else f"{file}: {error}"
                print(f"s2s: {named}", file=sys.stderr, flush=True)
    finally:
        if transcriber is not None:
            with closing(transcriber):
                pass
    return 1 if failed else 0


def speech_regions(recording: Block, vad: Vad) -> list[slice]:
    """Where there is speech in `recording`, float32 [samples at 16 kHz], with margins.

    `vad` is a stream that has heard nothing yet.
    """
    framer = Framer(BLOCK_SAMPLES)
    frames = [*framer.push(recording), *framer.flush()]
    probabilities = np.array([vad.probability(frame) for frame in frames])
    margin = int(MARGIN_S * PIPELINE_HZ)
    regions: list[slice] = []
    for first, last in _runs(probabilities):
        start = max(0, first * BLOCK_SAMPLES - margin)
        end = min(len(recording), (last + 1) * BLOCK_SAMPLES + margin)
        regions.append(slice(start, end))
    return regions


def _runs(probabilities: npt.NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """(first, last) window of each stretch that holds speech and no pause of `GAP_S`."""
    maybe = np.flatnonzero(probabilities >= MAYBE_SPEECH)
    gap = int(GAP_S * PIPELINE_HZ / BLOCK_SAMPLES)
    for run in np.split(maybe, np.flatnonzero(np.diff(maybe) > gap) + 1):
        if len(run) and np.count_nonzero(probabilities[run] >= SPEECH) >= SPEECH_WINDOWS:
            yield int(run[0]), int(run[-1])


def _written(
    file: Path, recording: Block, vad: VadModel, transcriber: Transcriber, config: Config
) -> str:
    """What is said in a recording; what was odd about it is told on stderr."""
    made = raised(recording, PIPELINE_HZ)
    if made.gain_db:
        print(f"note: {file}: {level_hint(made.level_db, made.gain_db)}", file=sys.stderr)
    regions = speech_regions(made.samples, vad.open())
    if not regions:
        print(f"note: {file}: no speech in it", file=sys.stderr)
    texts = [
        transcriber.transcribe(made.samples[region], language=config.session.language).text
        for region in regions
    ]
    return " ".join(text for text in texts if text)


def _open(config: Config, store: Store) -> Transcriber:
    from s2s.app.loading import Threads

    resources = Resources(store, Threads.of(config).stt)
    return registry.create_transcriber(config.stt.backend, config.stt.options, resources)


def _open_vad(config: Config, store: Store) -> VadModel:
    return SileroVad(store.path(config.models.vad))
