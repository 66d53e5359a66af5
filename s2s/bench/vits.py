"""Time to first sound of Piper voices, side by side: python scripts/benchmark_vits.py

The same phonemes go to every engine, one engine after the other and then the next repetition, so
that a busy machine is busy for all. Each engine runs in a process of its own. Other projects are
measured when their Python is given:

    python scripts/benchmark_vits.py --streaming-vits VENV/bin/python --phoonnx VENV/bin/python

Prints a table, draws a plot, and ends with one line of JSON. Phonemising is not included.
"""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("vits_worker.py")
ENGINES = ("s2s", "one-shot", "streaming-vits", "phoonnx")
"""As `vits_worker` knows them."""

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


# --- measuring ---------------------------------------------------------------------------------


@dataclass
class EngineProcess:
    """An engine's process, seen from outside."""

    engine: str
    threads: int
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, engine: str, python: str, model: Path, threads: int) -> EngineProcess:
        """Start the process and wait until its voice is loaded."""
        command = [python, str(WORKER), engine, "--model", str(model)]
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
        self.stop()
        raise RuntimeError(f"{self.engine} ended with {self.process.returncode}")

    def run(self, ids: list[int]) -> EngineRun:
        """Speak once."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(ids) + "\n")
        self.process.stdin.flush()
        told = json.loads(self.line("run"))
        return EngineRun([(t, n) for t, n in told["arrivals"]], told["peak_mb"])

    def stop(self) -> None:
        """End the process."""
        with self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()


@dataclass
class EngineRun:
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
class EngineRow:
    """Medians of one engine on one text."""

    engine: str
    threads: int
    text: str
    runs: list[EngineRun] = field(default_factory=list)

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
    workers: list[EngineProcess], phonemes: dict[str, list[int]], repeats: int
) -> dict[tuple[str, str], EngineRow]:
    """Every engine on every text, `repeats` times, after one run that does not count.

    The order of the engines turns from text to text, and each says the shortest text unheard
    before it is timed: what another engine or the system pushed out of the caches is back then.
    """
    warm = min(phonemes.values(), key=len)
    rows = {(w.engine, t): EngineRow(w.engine, w.threads, t) for t in phonemes for w in workers}
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
        for engine in ENGINES:
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

    from s2s.bench.conditions import Conditions

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        **asdict(Conditions.here()),
        "load_average": load,
        "onnxruntime": importlib.metadata.version("onnxruntime"),
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
    from s2s.models.store import Store
    from s2s.tts.vits import config_path, model_path, read_config

    model = model_path(args.model or Store().path("piper-joe"))
    rate_hz = read_config(config_path(model)).sample_rate_hz
    phonemes = phonemes_of(model, args.texts)
    pythons: dict[str, str | None] = {"s2s": sys.executable, "one-shot": sys.executable}
    pythons |= {"streaming-vits": args.streaming_vits, "phoonnx": args.phoonnx}
    told = {**conditions(model), "max_error": exactness(model)}
    figures: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for threads in args.threads:
            workers: list[EngineProcess] = []
            try:
                for engine, python in pythons.items():
                    if python is None:
                        continue
                    own = copied(model, (args.work_folder or Path(scratch)) / engine)
                    workers.append(EngineProcess.start(engine, python, own, threads))
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
