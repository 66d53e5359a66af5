"""Measure a recogniser on recordings with their words: errors, seconds, memory.

python -m s2s.bench.hearing.recognisers --stt faster-whisper --set stt.model=tiny.en tests/data
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder, run_measurement
from s2s.bench.hearing import wer
from s2s.config import registry
from s2s.config.loader import load
from s2s.core.audio import PIPELINE_HZ, Block, read_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import Transcriber

RUNS = 2
"""Of each recording; the quicker one counts, the other met something else on the machine."""


@dataclass(frozen=True, slots=True)
class RecogniserFigures:
    """What came of all recordings."""

    errors: float
    """Word error rate."""
    median_ms: float
    """An utterance took."""
    rtf: float
    """Seconds of work for one of speech."""
    words: int


def recordings(folder: Path) -> list[tuple[Block, str]]:
    """float32 [samples at 16 kHz] and words of the recordings that README.md of `folder` lists in
    rows `| file | seconds | words | ...`, transcribed ones alone."""
    found: list[tuple[Block, str]] = []
    for row in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) > 4 and cells[1].endswith(".wav") and not cells[3].startswith("("):
            found.append((read_wav(folder / cells[1], PIPELINE_HZ)[0], cells[3]))
    return found


def measured(transcriber: Transcriber, given: Iterable[tuple[Block, str]]) -> RecogniserFigures:
    """Let `transcriber` write all of it down."""
    heard: list[tuple[str, str]] = []
    took: list[float] = []
    spoken_s = 0.0
    for audio, words in given:
        times: list[float] = []
        text = ""
        for _ in range(RUNS):
            started = time.perf_counter()
            text = transcriber.transcribe(audio).text
            times.append(time.perf_counter() - started)
        took.append(min(times))
        spoken_s += len(audio) / PIPELINE_HZ
        heard.append((words, text))
    words = sum(len(wer.words(reference)) for reference, _ in heard)
    return RecogniserFigures(
        wer.rate(heard), 1000 * statistics.median(took), sum(took) / spoken_s, words
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print a table, and last one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", type=existing_folder, help="recordings, and their words in README.md"
    )
    parser.add_argument("--stt", default="moonshine", help="the backend")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(argv)
    before = psutil.Process().memory_info().rss
    flags = [("--stt", "stt.backend", options.stt)]
    for text in options.set:
        key, _, value = text.partition("=")
        flags.append(("--set", key, value))
    config = load(environment={}, flags=flags)
    resources = Resources(Store(), options.threads, words=config.stt.words)
    transcriber = registry.create_transcriber(options.stt, config.stt.options, resources)
    transcriber.warm()
    figures = measured(transcriber, recordings(options.folder))
    memory_mb = (psutil.Process().memory_info().rss - before) / 1e6
    transcriber.close()
    print(f"errors      {100 * figures.errors:.1f} % of {figures.words} words")
    print(f"utterance   {figures.median_ms:.0f} ms (median), {figures.rtf:.3f} of real time")
    print(f"memory      {memory_mb:.0f} MB")
    told = {"stt": options.stt, "set": options.set, "threads": options.threads}
    print(json.dumps(told | asdict(figures) | {"memory_mb": memory_mb} | asdict(Conditions.here())))


if __name__ == "__main__":
    sys.exit(run_measurement(main))
