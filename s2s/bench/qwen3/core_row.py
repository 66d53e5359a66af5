"""One core of Qwen3-TTS under measurement: run by `s2s.bench.qwen3.cores`, in the Python that the
core is installed in, in a process of its own.

    PYTHON -m s2s.bench.qwen3.core_row --checkpoint FOLDER --scratch FOLDER --core onnx --exact FILE

Prints, last, one line of JSON: the figures, or {"error": what keeps the core from running here}.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from s2s.bench.conditions import Neighbours, peak_memory_mb
from s2s.bench.qwen3.settings import BenchSetting, open_setting, warm
from s2s.bench.qwen3.utterances import Summary
from s2s.tts.qwen3 import (
    AUTO,
    BACKENDS,
    DEFAULT_QUANT,
    Qwen3Error,
    Qwen3Model,
    RecordedComparison,
    compare_recorded,
    read_recorded,
)


@dataclass(frozen=True, slots=True)
class CoreFigures:
    """What a core takes, and how near it is to the exact one.

    agreement: fed with the codes that the exact core chose greedily, so that one difference does
    not make all that follows incomparable.
    """

    quant: str
    """Of the talker, and behind a plus the predictor's."""
    codec: str
    """What decodes: the core itself where it can."""
    rtf: float
    first_chunk_ms: float
    load_s: float
    peak_memory_mb: float
    """Up to the last sample: while it loads, or speaks."""
    agreement: RecordedComparison
    others_cores: float | None
    """That everybody else kept busy meanwhile."""


def main() -> None:
    """Measure one core, and print."""
    arguments = parse(sys.argv[1:])
    found: dict[str, object]
    try:
        if arguments.prepare:
            open_setting(setting_of(arguments)).close()
            found = {}
        else:
            found = asdict(figures(setting_of(arguments), arguments.exact))
    except (Qwen3Error, OSError, ImportError) as error:
        found = {"error": str(error)}
    print("\n" + json.dumps(found))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--core", required=True, help="as tts.core names it")
    parser.add_argument("--quant", default=DEFAULT_QUANT, help="or what the core has in its place")
    parser.add_argument("--predictor-quant")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--runs", type=int, default=2)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--exact", type=Path, metavar="FILE", help="what the exact core chose")
    what.add_argument("--prepare", action="store_true", help="only make what is made once")
    return parser.parse_args(arguments)


def setting_of(arguments: argparse.Namespace) -> BenchSetting:
    """What is measured: all parts on the core, as far as it computes them."""
    name = arguments.core.partition("@")[0]
    decodes = any(each.name == name and each.codec is not None for each in BACKENDS)
    return BenchSetting(
        source=arguments.checkpoint,
        home=arguments.scratch,
        quant=arguments.quant,
        predictor_quant=arguments.predictor_quant,
        backend=arguments.core,
        codec=arguments.core if decodes else AUTO,
        threads=arguments.threads,
        frames=arguments.frames,
        runs=arguments.runs,
    )


def figures(setting: BenchSetting, exact: Path) -> CoreFigures:
    """Measure. Raises Qwen3Error for a core that cannot be had, OSError for files that cannot be
    read or written."""
    began_s = perf_counter()
    model = open_setting(setting)
    load_s = perf_counter() - began_s
    bench = warm(model)
    neighbours = Neighbours()
    summary = Summary.of([bench.utterance(setting.frames, seed) for seed in range(setting.runs)])
    others, peak_mb = neighbours.busy_cores(), peak_memory_mb()
    agreement = compare_recorded(model, read_recorded(exact, model.spec))
    model.close()
    return CoreFigures(
        quant=quant_of(model),
        codec=model.parts.codec,
        rtf=summary.rtf,
        first_chunk_ms=summary.first_chunk.p50_ms,
        load_s=round(load_s, 2),
        peak_memory_mb=round(peak_mb, 1),
        agreement=agreement,
        others_cores=others,
    )


def quant_of(model: Qwen3Model) -> str:
    """As it is computed."""
    quants = model.language.quants
    return f"{quants.talker}+{quants.predictor or quants.talker}"


if __name__ == "__main__":
    main()
