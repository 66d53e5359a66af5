"""Speaks some sentences with a checkpoint and writes down between which values its products lie."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.system.onnx import session_options
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, TableEmbeddings, open_tables
from s2s.tts.qwen3.fixed.admission import Measure, PartAdmission
from s2s.tts.qwen3.fixed.language import FixedPredictor, FixedTalker
from s2s.tts.qwen3.fixed.predictor_graph import build_frame
from s2s.tts.qwen3.fixed.providers import OpenedGraphs
from s2s.tts.qwen3.fixed.quantised import SEEN, WatchedMatrices, product_of_output
from s2s.tts.qwen3.fixed.ranges import RANGES_FILE, SeenRanges
from s2s.tts.qwen3.fixed.talker_graph import BLOCK, build_talker_graph, capacities
from s2s.tts.qwen3.fixed.trial import first_codes, speak
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.onnx.transformer import Job
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.example import request_of
from s2s.tts.qwen3.text.prompt import PromptBuilder
from s2s.tts.qwen3.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

TEXTS = (
    "Good morning! The train to the harbour leaves at a quarter past nine.",
    "Und wie komme ich vom Bahnhof dorthin, wenn es regnet?",
    "我也不知道，明天再问一次吧。",
)
"""None of them is the sentence that a provider is compared on."""
FRAMES = 40
"""Of each, sampled as speech usually is."""


def write_ranges(job: Job) -> Path:
    """Write `RANGES_FILE` into the job's folder, which has the tables and the tokenizer; the graphs
    that speak lie in a folder inside while they do.

    job: float32, whose ``advance`` is called for the weights of those graphs. Raises OnnxError for
    a checkpoint that gives no numbers, Qwen3Error for files that cannot be used.
    """
    spec, folder, seen = job.spec, job.folder, SeenRanges()
    tables = open_tables(folder)
    embeddings, vectors = TableEmbeddings(tables, spec), CodeVectors(tables, spec)
    prompts = PromptBuilder(spec, Tokenizer.load(folder), embeddings)
    with tempfile.TemporaryDirectory(prefix=".calibration-", dir=folder) as inner:
        inside = Path(inner)
        watched = replace(job, folder=inside)
        for positions in (1, BLOCK):
            build_talker_graph(watched, capacities(spec)[0], positions, WatchedMatrices)
        build_frame(watched, WatchedMatrices)
        provider = WatchingProvider(seen)
        talker = FixedTalker(OpenedGraphs("talker", inside, provider, job.threads), spec)
        graphs = OpenedGraphs("code predictor", inside, provider, job.threads)
        predictor = FixedPredictor(graphs, spec, vectors)
        for text in TEXTS:
            prompt = prompts.build(replace(request_of(spec), text=text))
            first = first_codes(spec, Sampling(), FRAMES)
            speak(talker, predictor, prompt, embeddings, first, FRAMES)
        del talker, predictor, graphs  # their files are mapped: Windows removes none of those
    path = folder / RANGES_FILE
    seen.write(path)
    return path


@dataclass(frozen=True, slots=True)
class WatchingProvider:
    """The processor, for graphs of `WatchedMatrices` (`Provider`)."""

    seen: SeenRanges = field(default_factory=SeenRanges)
    name: str = "cpu"

    def missing(self) -> str | None:
        """See `Provider`."""
        return None

    def open(self, graph: Path, threads: int) -> InferenceSession:
        """See `Provider`: a session that gives what any other does, and keeps the ranges."""
        return _watching(graph, threads, self.seen)

    def admit(self, part: str, folder: Path, measure: Measure) -> PartAdmission:
        """See `Provider`."""
        return PartAdmission()


def _watching(graph: Path, threads: int, seen: SeenRanges) -> InferenceSession:
    import onnxruntime

    class Watching(onnxruntime.InferenceSession):
        """Asks for the ranges beside what it is asked for."""

        def get_outputs(self) -> list[onnxruntime.NodeArg]:
            return [each for each in super().get_outputs() if not each.name.startswith(SEEN)]

        def run(
            self,
            output_names: Sequence[str] | None,
            input_feed: Mapping[str, np.ndarray],
            run_options: onnxruntime.RunOptions | None = None,
        ) -> list[Floats]:
            names = [each.name for each in super().get_outputs()]
            ranges = [name for name in names if name.startswith(SEEN)]
            wanted = output_names or [each.name for each in self.get_outputs()]
            found = super().run([*wanted, *ranges], input_feed, run_options)
            for name, sides in zip(ranges, found[len(wanted) :], strict=True):
                seen.add(product_of_output(name), sides[0])
            return found[: len(wanted)]

    return Watching(str(graph), session_options(threads=threads))
