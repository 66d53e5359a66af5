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
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.fixed.calibration import write_ranges
from s2s.tts.qwen3.fixed.operators import FixedMatrices, MakeMatrices
from s2s.tts.qwen3.fixed.predictor_graph import FRAME_GRAPH, build_predictor
from s2s.tts.qwen3.fixed.quantised import QuantisedMatrices
from s2s.tts.qwen3.fixed.ranges import RANGES_FILE, read_ranges
from s2s.tts.qwen3.fixed.talker_graph import (
    FIXED_GRAPHS_VERSION,
    build_talker,
    capacities,
    talker_graph_name,
)
from s2s.tts.qwen3.onnx.quant import BlockMix
from s2s.tts.qwen3.onnx.transformer import Job, stack_bytes

FIXED_F32, FIXED_A16W8 = "fixed-f32", "fixed-a16w8"
_WHOLE = BlockMix(FIXED_F32, 32, 1)
FIXED_MIXES = {FIXED_F32: _WHOLE, FIXED_A16W8: BlockMix(FIXED_A16W8, 8, 0)}
"""By name. What a provider computes a float32 graph in is its own affair; in the other one products
have 16 bits of activations and 8 of weights (`fixed.quantised`)."""


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
        heads = (spec.groups - 1) * _WHOLE.nbytes(spec.codes, spec.predictor.hidden)
        ranges = NewFile(
            RANGES_FILE,
            _talker_bytes(spec, _WHOLE) + _frame_bytes(spec, _WHOLE),
            partial(_made, write_ranges, _WHOLE, material),
        )
        tables = planner(material).tables(MIXES["f32"], None)
        return [
            gguf_file(tables, self.talker, material.source),
            *([] if talker.whole and predictor.whole else [ranges]),
            NewFile(
                f"{first}.onnx",
                _talker_bytes(spec, talker),
                partial(_built, build_talker, talker, material),
            ),
            NewFile(
                f"{FRAME_GRAPH}.onnx",
                _frame_bytes(spec, predictor) + heads,
                partial(_built, build_predictor, predictor, material),
            ),
        ]


def _talker_bytes(spec: Spec, mix: BlockMix) -> int:
    """What the talker's graphs advance by in all, and about the size of their files."""
    return stack_bytes(mix, spec.talker) + mix.nbytes(spec.codes + 1, spec.talker.hidden)


def _frame_bytes(spec: Spec, mix: BlockMix) -> int:
    """The same of the graph of a whole frame."""
    width = spec.predictor.hidden
    heads = (spec.groups - 1) * mix.nbytes(spec.codes, width)
    vectors = _WHOLE.nbytes((spec.groups - 2) * spec.codes, width)
    narrow = mix.nbytes(width, spec.talker.hidden) if spec.projected else 0
    return stack_bytes(mix, spec.predictor) + heads + vectors + narrow


def _built(
    build: Callable[[Job, MakeMatrices], Path],
    mix: BlockMix,
    material: Material,
    folder: Path,
    advance: Advance,
) -> None:
    matrices: MakeMatrices = FixedMatrices
    if not mix.whole:
        matrices = partial(QuantisedMatrices, ranges=read_ranges(folder / RANGES_FILE))
    _made(lambda job: build(job, matrices), mix, material, folder, advance)


def _made(
    make: Callable[[Job], Path], mix: BlockMix, material: Material, folder: Path, advance: Advance
) -> None:
    marks = {"source": material.source}
    make(Job(material.spec, material.weights, mix, folder, marks, material.threads, advance))
