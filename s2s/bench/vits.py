"""Time to first sound of Piper voices, side by side: python scripts/benchmark_vits.py

The same phonemes go to every engine, one engine after the other and then the next repetition, so
that a busy machine is busy for all. Each engine runs in a process of its own. Other projects are
measured when their Python is given:

    python scripts/benchmark_vits.py --streaming-vits VENV/bin/python --phoonnx VENV/bin/python

Prints a table, draws a plot, and ends with one line of JSON. Phonemising is not included.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]

SHORT = "Sure, I can turn that off for you."
MEDIUM = (
    "The weather tomorrow looks mostly sunny, with a light breeze in the afternoon "
    "and a chance of rain later at night."
)
LONG = (
    "When the first settlers arrived at the edge of the valley, they found a wide river, a forest "
    "of old oak trees, and a quiet meadow where the deer came down to drink every evening, and so "
    "they decided that this was where they would build their homes and stay for good."
)
TEXTS = {
    "short": SHORT,
    "4s": " ".join(MEDIUM.split()[:14]) + ".",
    "medium": MEDIUM,
    "9s": " ".join(LONG.split()[:36]) + ".",
    "long": LONG,
}
SCALES = (0.667, 1.0, 0.8)

Sounds = Iterator[int]
"""Samples of each piece, as it comes."""


# --- engines, each in a process of its own -----------------------------------------------------


def load_s2s(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """This project's engine."""
    from s2s.tts.vits import Engine, load_engine

    engine = load_engine(model, threads=threads)
    assert isinstance(engine, Engine)

    def speak(ids: list[int]) -> Sounds:
        for piece in engine.begin(ids).pieces():
            yield len(piece.samples)

    return speak


def load_one_shot(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """The whole graph in one call, with the same session options."""
    import numpy as np

    from s2s.system.onnx import onnx_session

    session = onnx_session(model, threads=threads)

    def speak(ids: list[int]) -> Sounds:
        feed = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array(SCALES, np.float32),
        }
        yield int(np.asarray(session.run(None, feed)[0]).size)

    return speak


def load_streaming_vits(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """streaming-vits, calibrated as its README says; the profile is kept beside the model."""
    import numpy as np
    from streaming_vits import phonemize  # pyright: ignore[reportMissingImports]
    from streaming_vits.calibrate import calibrate  # pyright: ignore[reportMissingImports]
    from streaming_vits.engine import StreamingTTS  # pyright: ignore[reportMissingImports]
    from streaming_vits.profile import Profile  # pyright: ignore[reportMissingImports]

    phonemize.build = lambda *_, **__: None  # phonemes are given
    kept = model.with_name(f"profile-{threads}.json")
    profile = Profile.load(kept) if kept.exists() else Profile(threads=threads)
    engine = StreamingTTS(model, profile=profile, threads=threads, verbose=False)
    current: list[list[int]] = [[1, 0] + [20, 0, 30, 0, 14, 0] * 60 + [2]]
    engine.phoneme_ids = lambda _: (np.array([current[0]], np.int64), 0)
    if not kept.exists():
        engine.profile = calibrate(engine, verbose=False)
        engine.profile.save(kept)

    def speak(ids: list[int]) -> Sounds:
        current[0] = ids
        for chunk in engine.stream(""):
            yield len(chunk.audio)

    return speak


def load_phoonnx(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """phoonnx with "streaming": true. Its encoder takes every core it is allowed to use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    from phoonnx.voice import TTSVoice  # pyright: ignore[reportMissingImports]

    path = model.with_name(model.name + ".json")
    config = json.loads(path.read_text(encoding="utf-8"))
    config |= {"streaming": True, "engine_params": {"intra_op_num_threads": threads}}
    path.write_text(json.dumps(config), encoding="utf-8")
    voice = TTSVoice.load(str(model))

    def speak(ids: list[int]) -> Sounds:
        yield int(voice.phoneme_ids_to_audio(ids).size)

    return speak


LOADERS = {
    "s2s": load_s2s,
    "one-shot": load_one_shot,
    "streaming-vits": load_streaming_vits,
    "phoonnx": load_phoonnx,
}


def work(engine: str, model: Path, threads: int) -> None:
    """The engine's process: a line of phoneme numbers in, a line of arrivals out."""
    speak = LOADERS[engine](model, threads)
    print("ready", flush=True)
    for line in sys.stdin:
        ids = json.loads(line)
        begin = time.perf_counter()
        arrivals = [(time.perf_counter() - begin, samples) for samples in speak(ids)]
        print("run " + json.dumps({"arrivals": arrivals, "peak_mb": peak_mb()}), flush=True)


def peak_mb() -> float:
    """Most memory that this process ever held, MiB; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = status.read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


# --- measuring ---------------------------------------------------------------------------------


@dataclass
class Worker:
    """An engine's process, seen from outside."""

    engine: str
    threads: int
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, engine: str, python: str, model: Path, threads: int) -> Worker:
        """Start the process and wait until its voice is loaded."""
        command = [python, __file__, "--work", engine, "--model", str(model)]
        env = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": str(threads)}
        process = subprocess.Popen(
            [*command, "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=env,
        )  # fmt: skip
        worker = cls(engine, threads, process)
        worker.line("ready")
        return worker

    def line(self, word: str) -> str:
        """The rest of the next line that begins with `word`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(word):
                return line.removeprefix(word).strip()
        raise RuntimeError(f"{self.engine} ended with {self.process.wait()}")

    def run(self, ids: list[int]) -> Run:
        """Speak once."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(ids) + "\n")
        self.process.stdin.flush()
        told = json.loads(self.line("run"))
        return Run([(t, n) for t, n in told["arrivals"]], told["peak_mb"])

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Run:
    """One utterance: when each piece came, and how long it is."""

    arrivals: list[tuple[float, int]]
    peak_mb: float

    @property
    def first_ms(self) -> float:
        """Time to first sound."""
        return 1000.0 * self.arrivals[0][0]

    def late_ms(self, rate_hz: int) -> float:
        """How late the worst piece comes after what was played before it; negative is slack."""
        begin = self.arrivals[0][0]
        played = 0
        worst = float("-inf")
        for index, (at, samples) in enumerate(self.arrivals):
            if index:
                worst = max(worst, at - begin - played / rate_hz)
            played += samples
        return 1000.0 * worst if len(self.arrivals) > 1 else 0.0

    def rtf(self, rate_hz: int) -> float:
        """Seconds of work for a second of sound."""
        return self.arrivals[-1][0] / (sum(n for _, n in self.arrivals) / rate_hz)

    def seconds(self, rate_hz: int) -> float:
        """Length of the sound."""
        return sum(n for _, n in self.arrivals) / rate_hz


@dataclass
class Row:
    """Medians of one engine on one text."""

    engine: str
    threads: int
    text: str
    runs: list[Run] = field(default_factory=list)

    def figures(self, rate_hz: int) -> dict[str, object]:
        """The row as it is printed."""
        return {
            "engine": self.engine,
            "threads": self.threads,
            "text": self.text,
            "speech_s": round(statistics.median(r.seconds(rate_hz) for r in self.runs), 2),
            "ttfa_ms": round(statistics.median(r.first_ms for r in self.runs), 1),
            "ttfa_min_ms": round(min(r.first_ms for r in self.runs), 1),
            "late_ms": round(statistics.median(r.late_ms(rate_hz) for r in self.runs), 1),
            "late_max_ms": round(max(r.late_ms(rate_hz) for r in self.runs), 1),
            "late_runs": sum(r.late_ms(rate_hz) > 0.0 for r in self.runs),
            "rtf": round(statistics.median(r.rtf(rate_hz) for r in self.runs), 4),
            "rtf_min": round(min(r.rtf(rate_hz) for r in self.runs), 4),
            "peak_mb": round(max(r.peak_mb for r in self.runs)),
            "pieces": round(statistics.median(len(r.arrivals) for r in self.runs)),
        }


def measure(
    workers: list[Worker], phonemes: dict[str, list[int]], repeats: int
) -> dict[tuple[str, str], Row]:
    """Every engine on every text, `repeats` times, after one run that does not count.

    The order of the engines turns from text to text, and each says the shortest text unheard
    before it is timed: what another engine or the system pushed out of the caches is back then.
    """
    warm = min(phonemes.values(), key=len)
    rows = {(w.engine, t): Row(w.engine, w.threads, t) for t in phonemes for w in workers}
    for repeat in range(repeats + 1):
        for text, ids in phonemes.items():
            workers = workers[1:] + workers[:1]
            for worker in workers:
                worker.run(warm)
                run = worker.run(ids)
                if repeat:
                    rows[worker.engine, text].runs.append(run)
    return rows


def exactness(model: Path) -> float:
    """Largest difference of samples between streamed and whole, by the voice's own check."""
    from s2s.tts.vits import verify_voice

    return verify_voice(model).pieces.error


# --- telling -----------------------------------------------------------------------------------


def print_table(figures: list[dict[str, object]]) -> None:
    """One line for each engine and text."""
    columns = ["threads", "text", "engine", "speech_s", "ttfa_ms", "ttfa_min_ms", "late_ms"]
    columns += ["late_max_ms", "rtf", "rtf_min", "peak_mb", "pieces"]
    print(" ".join(f"{name:>14}" for name in columns))
    for row in figures:
        print(" ".join(f"{row[name]!s:>14}" for name in columns))


def plot(figures: list[dict[str, object]], path: Path) -> None:
    """Time to first sound against length of the speech."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    counts = sorted({int(str(row["threads"])) for row in figures})
    figure, axes = pyplot.subplots(1, len(counts), figsize=(5 * len(counts), 4), squeeze=False)
    for axis, threads in zip(axes[0], counts, strict=True):
        for engine in LOADERS:
            points = [r for r in figures if r["engine"] == engine and r["threads"] == threads]
            lengths = [float(str(r["speech_s"])) for r in points]
            firsts = [float(str(r["ttfa_ms"])) for r in points]
            if points:
                axis.plot(lengths, firsts, marker="o", label=engine)
        axis.set_title(f"{threads} thread{'s' if threads > 1 else ''}")
        axis.set_xlabel("speech, s")
        axis.set_ylabel("time to first sound, ms")
        axis.set_yscale("log")
        axis.grid(True, which="both", alpha=0.3)
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def conditions(model: Path) -> dict[str, object]:
    """What the figures hold for."""
    import onnxruntime

    from s2s.bench.conditions import Conditions

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        **asdict(Conditions.here()),
        "load_average": load,
        "onnxruntime": onnxruntime.__version__,
        "model": model.name,
    }


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", type=Path, help="a voice; default: piper-joe of the store")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--texts", nargs="+", choices=list(TEXTS), default=list(TEXTS))
    parser.add_argument("--streaming-vits", metavar="PYTHON", help="Python that has it installed")
    parser.add_argument("--phoonnx", metavar="PYTHON", help="Python that has it installed")
    parser.add_argument("--work-folder", type=Path, help="keeps what other engines make")
    parser.add_argument("--plot", type=Path, default=Path("benchmark_vits.png"))
    parser.add_argument("--work", choices=list(LOADERS), help=argparse.SUPPRESS)
    return parser.parse_args()


def phonemes_of(model: Path, texts: list[str]) -> dict[str, list[int]]:
    """The phoneme numbers of each text, in one sentence."""
    from s2s.tts.vits import config_path, make_phonemizer, read_config

    config = read_config(config_path(model))
    phonemizer = make_phonemizer(config)
    return {
        name: config.phoneme_ids([p for s in phonemizer.sentences(TEXTS[name]) for p in s])[0]
        for name in texts
    }


def main() -> None:
    """Measure and tell."""
    args = parsed()
    if args.work:
        work(args.work, args.model, args.threads[0])
        return
    sys.path.insert(0, str(ROOT))
    from s2s.models.store import Store
    from s2s.tts.vits import config_path, model_path, read_config

    model = model_path(args.model or Store().path("piper-joe"))
    rate_hz = read_config(config_path(model)).sample_rate_hz
    phonemes = phonemes_of(model, args.texts)
    pythons = {"s2s": sys.executable, "one-shot": sys.executable}
    pythons |= {"streaming-vits": args.streaming_vits, "phoonnx": args.phoonnx}
    told = {**conditions(model), "max_error": exactness(model)}
    figures: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for threads in args.threads:
            workers: list[Worker] = []
            try:
                for engine, python in pythons.items():
                    if python is None:
                        continue
                    own = copied(model, (args.work_folder or Path(scratch)) / engine)
                    workers.append(Worker.start(engine, python, own, threads))
                rows = measure(workers, phonemes, args.repeats)
            finally:
                for worker in workers:
                    worker.stop()
            figures.extend(row.figures(rate_hz) for row in rows.values())
    print_table(figures)
    plot(figures, args.plot)
    print(json.dumps({"benchmark": "vits", **told, "repeats": args.repeats, "rows": figures}))


def copied(model: Path, folder: Path) -> Path:
    """The voice in a folder of its own: every engine leaves files beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (model, model.with_name(model.name + ".json")):
        if not (folder / path.name).exists():
            shutil.copy(path, folder)
    return folder / model.name


if __name__ == "__main__":
    main()
