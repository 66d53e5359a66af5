"""The command `transcribe`: what is said in each file, one file at a time, and when if asked.

A file that cannot be used is told and the next one follows. The recogniser is shown only what the
voice detector takes for speech.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from s2s.app.commands.table import Invocation
from s2s.config import registry
from s2s.config.loader import Config
from s2s.config.typed import SettingError
from s2s.core.audio import PIPELINE_HZ, AudioError, read_wav
from s2s.core.audio.gain import level_hint, raised
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import SttError, Transcriber
from s2s.stt.subtitles import SaidSegment, a_word_each, srt, verbose, vtt, whole_text
from s2s.transport.server.audio_api.recordings import Recogniser, Writing, said_in
from s2s.turns.base import VadModel

log = logging.getLogger(__name__)

FORMATS = ("text", "json", "srt", "vtt")


@dataclass(frozen=True, slots=True)
class PrintedForm:
    """How what was written down is printed."""

    format: str = "text"
    words: bool = False
    """With the time of each word."""

    def writing(self, language: str | None) -> Writing:
        """Where times are wanted pieces are short."""
        return Writing(language, self.words or self.format != "text", self.words)

    def shown(self, file: Path, said: list[SaidSegment], duration_s: float) -> str:
        """What is printed of a file."""
        match self.format:
            case "json":
                language = next((each.language for each in said if each.language), None)
                told = verbose(said, duration_s, language, words=self.words)
                del told["usage"]
                return json.dumps({"file": str(file)} | told, ensure_ascii=False)
            case "srt":
                return srt(a_word_each(said) if self.words else said)
            case "vtt":
                return vtt(a_word_each(said) if self.words else said)
            case _ if self.words:
                words = (word for each in said for word in each.words())
                rows = (f"{each.start_s:.3f}\t{each.end_s:.3f}\t{each.text}" for each in words)
                return "\n".join(rows)
            case _:
                return whole_text(said)


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="WAV, FLAC, OGG or MP3; - is stdin"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text: a line a file; json: an object a file, with the times of what is said; srt and "
        "vtt: subtitles of one file",
    )
    parser.add_argument(
        "--words",
        action="store_true",
        help="the time of each word: lines of start, end and word in seconds; within json; or a "
        "subtitle a word",
    )


def run(call: Invocation) -> int:
    """Write down what is said in the files that were given."""
    options = call.options
    if options.format in ("srt", "vtt") and len(options.files) > 1:
        raise SettingError(
            f"--format {options.format} is of one file, got {len(options.files)}. Give one FILE, "
            "or --format json."
        )
    written = PrintedForm(options.format, options.words)
    return transcribe(call.config(), call.store, options.files, written)


def transcribe(
    config: Config, store: Store, files: Iterable[Path], written: PrintedForm = PrintedForm()
) -> int:
    """Print what is said in each file as soon as it is known; 1 when one could not be read."""
    failed = False
    recogniser: Recogniser | None = None
    try:
        for file in files:
            try:
                recording = read_wav(file, PIPELINE_HZ)[0]
                if recogniser is None:  # not before there is something to hear
                    recogniser = Recogniser(_open(config, store), open_vad(config, store))
                    _tell_of_words(config, recogniser, written)
                made = raised(recording, PIPELINE_HZ)
                if made.gain_db:
                    hint = level_hint(made.level_db, made.gain_db)
                    print(f"note: {file}: {hint}", file=sys.stderr)
                writing = written.writing(config.session.language)
                said = list(said_in(made.samples, recogniser, writing))
                if not said:
                    print(f"note: {file}: no speech in it", file=sys.stderr)
                print(written.shown(file, said, len(recording) / PIPELINE_HZ), flush=True)
            except (AudioError, SttError) as error:
                failed = True
                log.debug("failed", exc_info=error)
                named = str(error) if str(file) in str(error) else f"{file}: {error}"
                print(f"s2s: {named}", file=sys.stderr, flush=True)
    finally:
        if recogniser is not None:
            with closing(recogniser.transcriber):
                pass
    return 1 if failed else 0


def _tell_of_words(config: Config, recogniser: Recogniser, written: PrintedForm) -> None:
    if written.words and not recogniser.tells_words:
        print(
            f"note: {config.stt.backend} does not tell when a word is said: the time of what is "
            "said without a pause is shared among its words. Those that do: faster-whisper, "
            "sherpa, openai.",
            file=sys.stderr,
        )


def _open(config: Config, store: Store) -> Transcriber:
    from s2s.app.loading import Threads

    resources = Resources(store, Threads.of(config).stt, words=config.stt.words)
    return registry.create_transcriber(config.stt.backend, config.stt.options, resources)


def open_vad(config: Config, store: Store) -> VadModel:
    from s2s.app import voice_activity

    return voice_activity.open_vad(config.models.vad, store)
