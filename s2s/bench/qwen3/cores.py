"""Every core of Qwen3-TTS on this machine, one after the other, as one table.

    python scripts/benchmark_qwen3_cores.py --checkpoint FOLDER --scratch FOLDER --prepare
    python scripts/benchmark_qwen3_cores.py --checkpoint FOLDER --scratch FOLDER
    ... --core native --core ggml:q8_0+q8_0       these alone, with these quantisations
    ... --python mlx=VENV/bin/python              the Python that a core is installed in

Each core computes talker and predictor, and the codec where it can, in a process of its own. What
is made once (conversions, graphs, what the exact core says) lies in the scratch folder; --prepare
makes it and measures nothing. A quantisation that a core does not have is its next one with as many
bits or more. A Python that is named needs numpy and this project's other dependencies as well.

Prints a table and, last, one line of JSON with the conditions. "RTF" is the time until the last
sample over the seconds of sound; "first" is when the first chunk came, in ms. "Codes" and "c0" are
agreement with the exact core (the numpy reference in float32): how many of the predictor's codes
are the ones that it chooses greedily, and how many first codes, over --exact-frames frames that
every core is fed with. A core that cannot run says why in its row.
The weights may be random (docs/decisions/random-weights-that-end.md): they cost what trained ones
do. Needs an otherwise idle machine to mean anything: "others" is how many cores others kept busy.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder
from s2s.bench.peers.compare import PeerError, called
from s2s.bench.qwen3.core import alone_in_one_thread
from s2s.bench.qwen3.utterances import request
from s2s.tts.qwen3 import BACKENDS, DEFAULT_QUANT, exact_run, write_recorded
from s2s.tts.qwen3.checkpoint import read_spec

WORKER = "s2s.bench.qwen3.core_row"


@dataclass(frozen=True, slots=True)
class AskedCore:
    """A core, by the name that settings have for it, and its quantisations; "" is the usual."""

    core: str
    quant: str = ""
    predictor_quant: str = ""


@dataclass(frozen=True, slots=True)
class CoresReport:
    """The JSON line. rows: by core, what `core_row` found, or its error alone."""

    checkpoint: str
    threads: int
    frames: int
    runs: int
    exact_frames: int
    rows: list[dict[str, object]]
    conditions: Conditions


def _stop(*_: object) -> None:
    sys.exit("stopped")


def main() -> None:
    """Parse, measure one after the other, print."""
    signal.signal(signal.SIGTERM, _stop)  # child processes end with it
    arguments = parse(sys.argv[1:])
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    exact = arguments.scratch / f"exact-{arguments.checkpoint.name}-{arguments.exact_frames}.npz"
    if not exact.is_file():
        print("the exact core ...", file=sys.stderr)
        alone_in_one_thread(make_exact, arguments.checkpoint, arguments.exact_frames, exact)
    cores = arguments.core or [AskedCore(backend.name) for backend in BACKENDS]
    rows = [row(core, exact, arguments) for core in cores]
    report = CoresReport(
        checkpoint=arguments.checkpoint.name,
        threads=arguments.threads,
        frames=arguments.frames,
        runs=arguments.runs,
        exact_frames=arguments.exact_frames,
        rows=rows,
        conditions=Conditions.here(),
    )
    print("\n".join(table(report, prepared=arguments.prepare)))
    print(json.dumps(asdict(report)))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=existing_folder, required=True, metavar="FOLDER")
    parser.add_argument("--scratch", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--core", type=asked_core, action="append", metavar="CORE[:QUANT[+PREDICTOR]]",
        help="instead of all there are",
    )  # fmt: skip
    parser.add_argument("--quant", default=DEFAULT_QUANT, help="of cores that name none")
    parser.add_argument(
        "--python", type=core_python, action="append", default=[], metavar="CORE=PYTHON"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--frames", type=int, default=50, help="of 80 ms, an utterance")
    parser.add_argument("--runs", type=int, default=2, help="utterances a core")
    parser.add_argument("--exact-frames", type=int, default=24, help="that are compared")
    parser.add_argument("--prepare", action="store_true", help="make what is made once, and end")
    found = parser.parse_args(arguments)
    if min(found.threads, found.frames, found.runs, found.exact_frames) < 1:
        parser.error("--threads, --frames, --runs and --exact-frames must be at least 1")
    return found


def asked_core(text: str) -> AskedCore:
    """A core as the command line names it. Raises ArgumentTypeError for one that there is not."""
    core, _, quants = text.partition(":")
    if core.partition("@")[0] not in {backend.name for backend in BACKENDS}:
        known = ", ".join(backend.name for backend in BACKENDS)
        raise argparse.ArgumentTypeError(f"{core!r} is no core; there are {known}")
    quant, _, predictor = quants.partition("+")
    return AskedCore(core, quant, predictor)


def core_python(text: str) -> tuple[str, str]:
    """Which Python a core is installed in. Raises ArgumentTypeError."""
    core, equals, python = text.partition("=")
    if not (equals and python):
        raise argparse.ArgumentTypeError(
            f"{text!r}: write CORE=PYTHON, such as mlx=venv/bin/python"
        )
    return asked_core(core).core, python


def make_exact(checkpoint: Path, frames: int, path: Path) -> None:
    """What the exact core says of the benchmark's text, as a file."""
    write_recorded(path, exact_run(checkpoint, request(read_spec(checkpoint)), frames))


def row(asked: AskedCore, exact: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """A row of the report: what is made once is made first, by a process whose memory and time do
    not count."""
    pythons = dict(arguments.python)
    name = asked.core.partition("@")[0]
    command = [
        pythons.get(asked.core) or pythons.get(name) or sys.executable, "-m", WORKER,
        "--checkpoint", str(arguments.checkpoint), "--scratch", str(arguments.scratch),
        "--core", asked.core, "--quant", asked.quant or arguments.quant,
        "--threads", str(arguments.threads), "--frames", str(arguments.frames),
        "--runs", str(arguments.runs),
        *(["--predictor-quant", asked.predictor_quant] if asked.predictor_quant else []),
    ]  # fmt: skip
    print(f"{asked.core} ...", file=sys.stderr)
    found = measured([*command, "--prepare"], arguments.threads)
    if "error" not in found and not arguments.prepare:
        found = measured([*command, "--exact", str(exact)], arguments.threads)
    return {"core": asked.core, **found}


def measured(command: list[str], threads: int) -> dict[str, object]:
    """What `core_row` printed last; its error, or how it ended, where it could not run."""
    try:
        lines = called(command, threads).splitlines()
    except PeerError as error:
        return {"error": str(error)}
    return json.loads(lines[-1]) if lines else {"error": "it printed nothing"}


def table(report: CoresReport, *, prepared: bool = False) -> list[str]:
    """The report as aligned text, a row a core. prepared: nothing was measured."""
    where = report.conditions
    lines = [
        f"Qwen3-TTS {report.checkpoint} on {where.cpu}, {where.cores} cores, {where.system}: "
        f"{report.threads} thread(s), {report.runs} utterances of {report.frames} frames; "
        f"agreement over {report.exact_frames} frames",
        f"{'core':<14} {'talker+predictor':<22} {'codec':<12} {'RTF':>6} {'first':>8} "
        f"{'load s':>7} {'peak MB':>8} {'codes':>7} {'c0':>7} {'others':>7}",
    ]
    for each in report.rows:
        if "error" in each:
            lines.append(f"{each['core']:<14} cannot run here: {each['error']}")
        elif prepared:
            lines.append(f"{each['core']:<14} ready to be measured")
        else:
            lines.append(_row_text(each))
    return lines


def _row_text(row: dict[str, object]) -> str:
    near = row["agreement"]
    assert isinstance(near, dict)
    return (
        f"{row['core']:<14} {row['quant']:<22} {row['codec']:<12} {row['rtf']:>6} "
        f"{row['first_chunk_ms']:>8} {row['load_s']:>7} {row['peak_memory_mb']:>8} "
        f"{near['codes']:>7.1%} {near['first']:>7.1%} {row['others_cores']!s:>7}"
    )
