"""A language model stored as ONNX graphs, with the tables beside them in GGUF."""

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
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.onnx.language_graph import (
    LANGUAGE_GRAPHS_VERSION,
    PREDICTOR_GRAPH,
    TALKER_GRAPH,
    build_predictor,
    build_talker,
    predictor_bytes,
    talker_bytes,
)
from s2s.tts.qwen3.onnx.quant import BLOCK_MIXES, BlockMix, predictor_default
from s2s.tts.qwen3.onnx.transformer import Job


@dataclass(frozen=True, slots=True)
class OnnxWeights(BothMixes[BlockMix]):
    """The quantisations of both parts."""

    @classmethod
    def of(cls, talker: str, predictor: str | None) -> OnnxWeights:
        """By name; a predictor of None gets the usual one. Raises ConvertError for an unknown."""
        return cls(*mixes_named(BLOCK_MIXES, predictor_default, talker, predictor))

    @property
    def usual_predictor(self) -> str:
        return predictor_default(self.talker_mix).name

    @property
    def graphs(self) -> int:
        return LANGUAGE_GRAPHS_VERSION

    def _check_blocks(self, spec: Spec) -> None:
        """Raise ConvertError unless every row divides into blocks."""
        _check_blocks(self.talker_mix, spec.talker, (), "talker", "quant", "")
        usual = ""
        if self.predictor_mix == predictor_default(self.talker_mix) != self.talker_mix:
            usual = f" (what {self.talker} takes for the predictor)"
        beside = (spec.talker.hidden,) if spec.projected else ()
        _check_blocks(
            self.predictor_mix, spec.predictor, beside, "predictor", "predictor_quant", usual
        )

    def files(self, material: Material) -> Sequence[NewFile]:
        """Talker's graph, predictor's graphs, tables."""
        spec, talker, predictor = material.spec, self.talker_mix, self.predictor_mix
        self._check_blocks(spec)
        tables = planner(material).tables(MIXES["f32" if talker.whole else "q8_0"], None)
        return [
            NewFile(
                f"{TALKER_GRAPH}.onnx",
                talker_bytes(spec, talker),
                partial(_build, build_talker, talker, material),
            ),
            NewFile(
                f"{PREDICTOR_GRAPH}.onnx",
                predictor_bytes(spec, predictor),
                partial(_build, build_predictor, predictor, material),
            ),
            gguf_file(tables, self.talker, material.source),
        ]


def _check_blocks(
    mix: BlockMix,
    shape: DecoderSpec,
    beside: tuple[int, ...],
    part: str,
    option: str,
    usual: str,
) -> None:
    """beside: widths of what the part is fed through; option: how its storage is chosen."""
    widths = (shape.hidden, shape.heads * shape.head_dim, shape.intermediate, *beside)
    for width in widths:
        if not mix.whole and width % mix.block:
            able = [
                name
                for name, other in BLOCK_MIXES.items()
                if other.whole or not any(each % other.block for each in widths)
            ]
            raise ConvertError(
                f"the {part} in {mix.name}{usual}: rows of {width} values do not divide into "
                f"blocks of {mix.block}; set {option} to {' or '.join(able)}, or take another "
                "backend"
            )


def _build(
    build: Callable[[Job], Path],
    mix: BlockMix,
    material: Material,
    folder: Path,
    advance: Advance,
) -> None:
    marks = {"source": material.source}
    build(Job(material.spec, material.weights, mix, folder, marks, material.threads, advance))
