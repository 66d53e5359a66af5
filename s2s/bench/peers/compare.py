"""Speak with several engines for Qwen3-TTS, side by side: same machine, same weights, same voice.

    python scripts/benchmark_qwen3_peers.py --checkpoint FOLDER --scratch FOLDER \\
        --peer s2s:q4_k_m+q8_0 --peer vox:q8=VENV/bin/python --peer qwentts:q8_0=VENV/bin/python \\
        --peer official:float32=VENV/bin/python

Each engine runs in the interpreter it is installed in, and alone: one process an engine, one after
the other. The checkpoint is a Base one in the official layout, whose weights may be random
(`s2s.testing.random_checkpoint`); what an engine reads instead is made of it once, in the scratch
folder.

    s2s:TALKER+PREDICTOR[+BACKEND]   this project, with these quantisations
    official:DTYPE                   qwen-tts, on torch (DTYPE float32 or bfloat16)
    vox:QUANT                        vox-tts (QUANT q8, q4 or q4full)
    qwentts:QUANT                    qwentts.cpp in realtimetts-qwen-native-cpu (q8_0 or q4_k_m)
    mnn:PRECISION                    qwen3-tts-mnn (fp16, as its own models are, or int8)

Prints a table and, last, one line of JSON with the conditions. "RTF" is the time until the last
sample over the seconds of sound; "first" is when the first sound came, "start" the earliest moment
at which playback can begin and never run dry. What could not run is listed with its error.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from s2s.bench.conditions import Conditions, Neighbours
from s2s.bench.entry import existing_folder
from s2s.bench.synthesis import Arrivals
from s2s.tts.qwen3.checkpoint import read_spec

HERE = Path(__file__).parent
LONGEST_S = 900
MNN_PRECISIONS = {"fp16": ["--fp16"], "int8": ["--weightQuantBits", "8"]}


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine, in one of its variants, and the interpreter it is installed in."""

    name: str
    variant: str
    python: str

    @property
    def label(self) -> str:
        """As it was asked for."""
        return f"{self.name}:{self.variant}" if self.variant else self.name


@dataclass(frozen=True, slots=True)
class PeerRow:
    """Measures of one peer; times are medians over its utterances."""

    peer: str
    package: str
    version: str
    rtf: float
    first_ms: float
    start_ms: float
    audio_s: float
    chunks: int
    peak_memory_mb: float
    load_s: float
    others_cores: float | None


@dataclass(frozen=True, slots=True)
class PeerReport:
    """The JSON line. ``failed``: what could not run, and why."""

    checkpoint: str
    threads: int
    frames: int
    runs: int
    rows: list[PeerRow]
    failed: dict[str, str]
    conditions: Conditions


class PeerError(RuntimeError):
    """A peer that cannot run; says why."""


def main() -> None:
    """Parse, measure one after the other, print."""
    arguments = parse(sys.argv[1:])
    rows: list[PeerRow] = []
    failed: dict[str, str] = {}
    for peer in arguments.peer:
        print(f"{peer.label} ...", file=sys.stderr)
        try:
            rows.append(measure(peer, arguments))
        except PeerError as error:
            failed[peer.label] = str(error)
    report = PeerReport(
        checkpoint=arguments.checkpoint.name,
        threads=arguments.threads,
        frames=arguments.frames,
        runs=arguments.runs,
        rows=sorted(rows, key=lambda row: row.rtf),
        failed=failed,
        conditions=Conditions.here(),
    )
    show(report)
    print(json.dumps(asdict(report)))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=existing_folder, required=True, metavar="FOLDER")
    parser.add_argument("--scratch", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--peer", type=peer, action="append", required=True, metavar="NAME[:VARIANT][=PYTHON]"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--frames", type=int, default=50, help="of 80 ms, an utterance, at most")
    parser.add_argument("--runs", type=int, default=2, help="utterances a peer")
    return parser.parse_args(arguments)


def peer(text: str) -> Peer:
    """A peer as the command line names it. Raises ArgumentTypeError for one that is not known."""
    label, _, python = text.partition("=")
    name, _, variant = label.partition(":")
    if name not in MODELS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(MODELS)}")
    return Peer(name, variant, python or sys.executable)


def measure(peer: Peer, arguments: argparse.Namespace) -> PeerRow:
    """Run one peer. Raises PeerError."""
    model, options = MODELS[peer.name](peer, arguments.checkpoint, arguments.scratch)
    command = [
        peer.python, str(HERE / "run.py"), peer.name, "--model", str(model),
        "--threads", str(arguments.threads), "--frames", str(arguments.frames),
        "--runs", str(arguments.runs),
        *(f"--set={key}={value}" for key, value in options.items()),
    ]  # fmt: skip
    neighbours = Neighbours()
    lines = called(command, arguments.threads).splitlines()
    if not lines:
        raise PeerError("it printed nothing")
    found = json.loads(lines[-1])
    if "error" in found:
        raise PeerError(found["error"])
    runs = [Arrivals(tuple(run["at_s"]), tuple(run["lasts_s"])) for run in found["runs"]]
    middle = statistics.median
    return PeerRow(
        peer=peer.label,
        package=found["package"],
        version=found["version"],
        rtf=round(sum(run.done_s for run in runs) / sum(run.audio_s for run in runs), 3),
        first_ms=round(1000 * middle(run.first_audio_s for run in runs), 1),
        start_ms=round(1000 * middle(run.uninterrupted_start_s for run in runs), 1),
        audio_s=round(middle(run.audio_s for run in runs), 2),
        chunks=max(len(run.at_s) for run in runs),
        peak_memory_mb=found["peak_memory_mb"],
        load_s=found["load_s"],
        others_cores=neighbours.busy_cores(),
    )


def called(command: list[str], threads: int) -> str:
    """What a command prints. Raises PeerError with the end of its complaints when it fails."""
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[2])}
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[name] = str(threads)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            env=environment,
            check=False,
        )
    except OSError as error:
        raise PeerError(f"{command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"not done after {LONGEST_S} s") from error
    if done.returncode:
        complaint = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise PeerError(f"exit status {done.returncode}: {complaint[:300]}")
    return done.stdout


Made = tuple[Path, dict[str, str]]
"""What a peer is given: the model, and options for run.py."""


def ours(peer: Peer, checkpoint: Path, scratch: Path) -> Made:
    """Converted by run.py itself."""
    quant, predictor, *backend = peer.variant.split("+")
    return checkpoint, {
        "quant": quant,
        "predictor_quant": predictor,
        "backend": backend[0] if backend else "auto",
        "home": str(scratch),
    }


def official(peer: Peer, checkpoint: Path, _scratch: Path) -> Made:
    """As it is."""
    return checkpoint, {"dtype": peer.variant or "float32"}


def vox(peer: Peer, checkpoint: Path, scratch: Path) -> Made:
    """By the package's own converter."""
    path = scratch / f"vox-{checkpoint.name}-{peer.variant}.tmod"
    if not path.is_file():
        part = path.with_suffix(".part")
        command = [peer.python, "-m", "vox.build", "--model", str(checkpoint), "--dtype", "bf16"]
        called([*command, "--quant", peer.variant, "-o", str(part)], threads=1)
        part.rename(path)
    return path, {}


def qwentts(peer: Peer, checkpoint: Path, scratch: Path) -> Made:
    """By qwentts_files.py: the package has no converter."""
    out = scratch / f"qwentts-{checkpoint.name}"
    command = [sys.executable, str(HERE / "qwentts_files.py"), str(checkpoint), str(out)]
    called([*command, "--quant", peer.variant], threads=1)
    width = read_spec(checkpoint).talker.hidden
    return out, {"quant": peer.variant, "width": str(width)}


def mnn(peer: Peer, checkpoint: Path, scratch: Path) -> Made:
    """Graphs by mnn_files.py and MNN's converter: the package has no exporter."""
    out = scratch / f"mnn-{checkpoint.name}-{peer.variant}"
    if not out.is_dir():
        part = out.with_name(f"{out.name}.part")
        called([sys.executable, str(HERE / "mnn_files.py"), str(checkpoint), str(part)], threads=1)
        for graph in sorted(part.glob("*.onnx")):
            command = [peer.python, "-m", "MNN.tools.mnnconvert", "-f", "ONNX", "--bizCode", "s2s"]
            command += ["--modelFile", str(graph), "--MNNModel", str(graph.with_suffix(".mnn"))]
            called([*command, *MNN_PRECISIONS[peer.variant]], threads=1)
        for file in part.glob("*.onnx*"):
            file.unlink()
        part.rename(out)
    return out, {}


MODELS: dict[str, Callable[[Peer, Path, Path], Made]] = {
    "s2s": ours,
    "official": official,
    "vox": vox,
    "qwentts": qwentts,
    "mnn": mnn,
}


def show(report: PeerReport) -> None:
    """Print the table, fastest first."""
    print(
        f"Qwen3-TTS {report.checkpoint}, {report.threads} thread(s), {report.runs} utterances of "
        f"{report.frames} frames at most"
    )
    print(
        f"{'peer':<28} {'version':>8} {'RTF':>7} {'first ms':>9} {'start ms':>9} {'chunks':>7} "
        f"{'peak MB':>8} {'others':>7}"
    )
    for row in report.rows:
        print(
            f"{row.peer:<28} {row.version:>8} {row.rtf:>7} {row.first_ms:>9} {row.start_ms:>9} "
            f"{row.chunks:>7} {row.peak_memory_mb:>8} {row.others_cores!s:>7}"
        )
    for label, why in report.failed.items():
        print(f"{label:<28} could not run: {why}")
