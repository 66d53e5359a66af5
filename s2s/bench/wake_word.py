"""Measure wake words: how often they are recognised, how late, how often by mistake, at what cost.

    python scripts/benchmark_wake_word.py
    python scripts/benchmark_wake_word.py --speech FOLDER --noise-db 10

Says each wake word in the embedded voices, alone and with a question in the same breath, quiet and
in white noise; and hears human speech without any wake word: the recordings of tests/data, and with
--speech every .g722 and .wav below FOLDER (the Debian package asterisk-core-sounds-en-g722,
unpacked). Prints a table and, last, one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder
from s2s.bench.noise import DATA, mixed, white
from s2s.bench.packages import read_sound
from s2s.bench.turn_audio import level_db
from s2s.config import registry
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, read_wav, resample
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.turns.orders.wake_word import MicroWakeModel

WORDS = {
    "okay_nabu": "Okay Nabu",
    "hey_jarvis": "Hey Jarvis",
    "hey_mycroft": "Hey Mycroft",
    "alexa": "Alexa",
}
WAYS = ("{}.", "{}!", "{}?", "{}, what time is it?", "{}, turn on the lights.", "{}. Who are you?")


@dataclass(frozen=True, slots=True)
class WakeResult:
    """What was heard of one wake word."""

    word: str
    said: int
    recognised: int
    late_ms: list[float]
    """From the end of the word, said alone, to its recognition."""
    speech_s: float
    false_alarms: int
    """In speech without any wake word."""
    real_time_factor: float


def recognised(model: MicroWakeModel, audio: Block) -> list[int]:
    """Samples at which the word is recognised in `audio`, half a second of silence before it."""
    lead = PIPELINE_HZ // 2
    stream, sample = model.open(), -lead
    found: list[int] = []
    for block in Framer(BLOCK_SAMPLES).push(np.pad(audio, (lead, PIPELINE_HZ))):
        sample += BLOCK_SAMPLES
        if stream.heard(block) is not None:
            found.append(sample)
    return found


def voices(store: Store) -> Iterator[str]:
    """The text-to-speech backends whose default voice is here."""
    yield "hibari"
    lacking = registry.missing(registry.find("tts", "piper"))
    if not lacking and store.state(store.select(["piper-joe"])[0]) == "present":
        yield "piper"


def say(backend: str, texts: list[str]) -> list[Block]:
    """Each text in the default voice of `backend`, float32 [samples] at 16 kHz."""
    voice = registry.create_synthesizer(backend, None, Resources(Store(), threads=1))
    sounds = [np.concatenate([c.samples for c in voice.synthesize(text)]) for text in texts]
    rate_hz = voice.capabilities.sample_rate_hz
    voice.close()
    return [resample(sound, rate_hz, PIPELINE_HZ) for sound in sounds]


def without_words(folder: Path | None) -> list[Block]:
    """Human speech in which no wake word is said."""
    sounds = [read_wav(path, PIPELINE_HZ)[0] for path in sorted(DATA.glob("*.wav"))]
    if folder is not None:
        for kind in ("*.g722", "*.wav"):
            sounds += [read_sound(path) for path in sorted(folder.rglob(kind))]
    return sounds


def measure(name: str, said: dict[str, list[Block]], others: list[Block]) -> WakeResult:
    """`said`: way of saying it -> the word in each voice; `others`: speech without it."""
    model = MicroWakeModel(name)
    count = hits = alarms = 0
    late: list[float] = []
    for way, sounds in said.items():
        for sound in sounds:
            found = recognised(model, sound)
            count, hits = count + 1, hits + bool(found)
            if found and way == WAYS[0]:
                level = level_db(sound)
                end = (np.flatnonzero(level > level.max() - 30.0)[-1] + 1) * PIPELINE_HZ // 100
                late.append(1000 * float(found[0] - end) / PIPELINE_HZ)
    started_s = time.perf_counter()
    for sound in others:
        alarms += len(recognised(model, sound))
    took_s = time.perf_counter() - started_s
    heard_s = sum(len(sound) / PIPELINE_HZ + 1.5 for sound in others)
    speech_s = sum(len(sound) for sound in others) / PIPELINE_HZ
    return WakeResult(name, count, hits, late, speech_s, alarms, took_s / heard_s)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the wake words.")
    parser.add_argument(
        "--speech", type=existing_folder, help="folder of speech without wake words"
    )
    parser.add_argument("--words", default=",".join(WORDS), help="which, with commas")
    parser.add_argument("--noise-db", type=float, help="white noise so much below the word")
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    others = without_words(arguments.speech)
    backends = list(voices(Store()))
    results: list[WakeResult] = []
    print(f"{'word':>12} {'recognised':>11} {'late, ms':>16} {'false alarms':>20} {'RTF':>7}")
    for name in arguments.words.split(","):
        word = WORDS[name]
        texts = [way.format(word) for way in WAYS]
        spoken = [say(backend, texts) for backend in backends]
        said = {way: [voice[number] for voice in spoken] for number, way in enumerate(WAYS)}
        if arguments.noise_db is not None:
            said = {
                way: [
                    mixed(s, white(len(s) + 2 * PIPELINE_HZ, random), arguments.noise_db)
                    for s in sounds
                ]
                for way, sounds in said.items()
            }
        result = measure(name, said, others)
        results.append(result)
        late = ", ".join(f"{each:.0f}" for each in result.late_ms)
        print(
            f"{name:>12} {result.recognised:>5} of {result.said:>2} {late:>16} "
            f"{result.false_alarms:>5} in {result.speech_s / 60:5.1f} min "
            f"{result.real_time_factor:7.4f}",
            flush=True,
        )
    print(json.dumps({"words": [asdict(r) for r in results], **asdict(Conditions.here())}))
