"""A language model stored as graphs of fixed shapes, with the tables beside them in GGUF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from s2s.tts.qwen3.checkpoint.conversion import (
    Advance,
    BothMixes,
    Material,
    NewFile,
    mixes_named,
)
from s2s.tts.qwen3.checkpoint.gguf_weights import gguf_file, planner
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.fixed.predictor_graph import FRAME_GRAPH, build_predictor
from s2s.tts.qwen3.fixed.talker_graph import (
    FIXED_GRAPHS_VERSION,
    build_talker,
    capacities,
    talker_graph_name,
)
from s2s.tts.qwen3.onnx.language_graph import predictor_bytes, talker_bytes
from s2s.tts.qwen3.onnx.quant import BlockMix
from s2s.tts.qwen3.onnx.transformer import Job

FIXED_F32 = "fixed-f32"
FIXED_MIXES = {FIXED_F32: BlockMix(FIXED_F32, 32, 1)}
"""By name. What a provider computes in is its own affair."""


@dataclass(frozen=True, slots=True)
class FixedWeights(BothMixes[BlockMix]):
    """The quantisations of both parts."""

    @classmethod
    def of(cls, talker: str, predictor: str | None) -> FixedWeights:
        """By name; a predictor of None gets the talker's. Raises ConvertError for an unknown."""
        return cls(*mixes_named(FIXED_MIXES, lambda mix: mix, talker, predictor))

    @property
    def usual_predictor(self) -> str:
        return self.talker_mix.name

    @property
    def graphs(self) -> int:
        return FIXED_GRAPHS_VERSION

    def files(self, material: Material) -> Sequence[NewFile]:
        """Talker's graphs, predictor's graphs, tables."""
        spec, talker, predictor = material.spec, self.talker_mix, self.predictor_mix
        first = talker_graph_name(capacities(spec)[0], 1)
        heads = (spec.groups - 1) * predictor.nbytes(spec.codes, spec.predictor.hidden)
        return [
            NewFile(
                f"{first}.onnx",
                talker_bytes(spec, talker),
                partial(_build, build_talker, talker, material),
            ),
            NewFile(
                f"{FRAME_GRAPH}.onnx",
                predictor_bytes(spec, predictor) + heads,
                partial(_build, build_predictor, predictor, material),
            ),
            gguf_file(planner(material).tables(MIXES["f32"], None), self.talker, material.source),
        ]


def _build(
    build: Callable[[Job], Path],
    mix: BlockMix,
    material: Material,
    folder: Path,
    advance: Advance,
) -> None:
    marks = {"source": material.source}
    build(Job(material.spec, material.weights, mix, folder, marks, material.threads, advance))
