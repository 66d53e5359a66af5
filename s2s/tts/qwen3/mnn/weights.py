"""A language model stored in MNN's files, with the tables beside them in GGUF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from s2s.tts.qwen3.mnn.converter import convert_graphs
from s2s.tts.qwen3.mnn.language_graph import (
    MNN_GRAPHS_VERSION,
    PREDICTOR_GRAPH,
    TALKER_GRAPH,
    build_predictor,
    build_talker,
)
from s2s.tts.qwen3.mnn.quant import MNN_MIXES, MnnMix, predictor_default
from s2s.tts.qwen3.onnx.language_graph import talker_bytes
from s2s.tts.qwen3.onnx.quant import BlockMix
from s2s.tts.qwen3.onnx.transformer import Job, stack_bytes

FLOATS = BlockMix("f32", 32, 1)
"""What the converter is given, whatever it makes of it."""


@dataclass(frozen=True, slots=True)
class MnnWeights(BothMixes[MnnMix]):
    """The quantisations of both parts."""

    @classmethod
    def of(cls, talker: str, predictor: str | None) -> MnnWeights:
        """By name; a predictor of None gets the usual one. Raises ConvertError for an unknown."""
        return cls(*mixes_named(MNN_MIXES, predictor_default, talker, predictor))

    @property
    def usual_predictor(self) -> str:
        return predictor_default(self.talker_mix).name

    @property
    def graphs(self) -> int:
        return MNN_GRAPHS_VERSION

    def files(self, material: Material) -> Sequence[NewFile]:
        """Talker's file, predictor's files, tables."""
        spec = material.spec
        return [
            _file(
                TALKER_GRAPH, talker_bytes(spec, FLOATS), build_talker, self.talker_mix, material
            ),
            _file(
                PREDICTOR_GRAPH,
                _predictor_bytes(spec),
                build_predictor,
                self.predictor_mix,
                material,
            ),
            gguf_file(planner(material).tables(MIXES["f32"], None), self.talker, material.source),
        ]


def _predictor_bytes(spec: Spec) -> int:
    """What `build_predictor` advances by in all."""
    width = spec.predictor.hidden
    heads = (spec.groups - 1) * FLOATS.nbytes(spec.codes, width)
    projection = FLOATS.nbytes(width, spec.talker.hidden) if spec.projected else 0
    return stack_bytes(FLOATS, spec.predictor) + heads + projection


def _file(
    name: str, nbytes: int, build: Callable[[Job], list[Path]], mix: MnnMix, material: Material
) -> NewFile:
    """nbytes: of the floats, which are written once for the converter, and once by it, where
    nothing is quantised."""
    return NewFile(f"{name}.mnn", 2 * nbytes, partial(_write, nbytes, build, mix, material))


def _write(
    nbytes: int,
    build: Callable[[Job], list[Path]],
    mix: MnnMix,
    material: Material,
    folder: Path,
    advance: Advance,
) -> None:
    job = Job(material.spec, material.weights, FLOATS, folder, {}, material.threads, advance)
    convert_graphs(folder, mix, lambda to: build(replace(job, folder=to)))
    advance(nbytes)
