"""The command `transcribe`: what is said in each file, one line a file, one file at a time.

A file that cannot be used is told and the next one follows. The recogniser is shown only what the
voice detector takes for speech.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from s2s.app.commands.table import Invocation
from s2s.config import registry
from s2s.config.loader import Config
from s2s.core.audio import PIPELINE_HZ, AudioError, Block, read_wav
from s2s.core.audio.gain import level_hint, raised
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import SttError, Transcriber
from s2s.turns.base import VadModel
from s2s.turns.speech_regions import speech_regions

log = logging.getLogger(__name__)


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="WAV, FLAC, OGG or MP3; - is stdin"
    )


def run(call: Invocation) -> int:
    """Write down what is said in the files that were given."""
    return transcribe(call.config(), call.store, call.options.files)


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
                    vad, transcriber = open_vad(config, store), _open(config, store)
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

    resources = Resources(store, Threads.of(config).stt, words=config.stt.words)
    return registry.create_transcriber(config.stt.backend, config.stt.options, resources)


def open_vad(config: Config, store: Store) -> VadModel:
    from s2s.app import voice_activity

    return voice_activity.open_vad(config.models.vad, store)
