"""A language model stored in GGUF: talker, code predictor and tables, a file each.

What ``native`` and ``ggml`` load. The tables are stored like this for every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.conversion import Advance, BothMixes, Material, NewFile
from s2s.tts.qwen3.checkpoint.gguf_layout import FORMAT, Plan, Planner
from s2s.tts.qwen3.checkpoint.quant import (
    Bytes,
    Mix,
    TensorType,
    mix,
    predictor_default,
)
from s2s.tts.qwen3.interfaces import Floats


@dataclass(frozen=True, slots=True)
class GGUFWeights(BothMixes[Mix]):
    """The quantisations of both parts."""

    @classmethod
    def of(cls, talker: str, predictor: str | None) -> GGUFWeights:
        """By name; a predictor of None gets the usual one. Raises ConvertError for an unknown."""
        whole = mix(talker)
        return cls(whole, mix(predictor) if predictor else predictor_default(whole))

    @property
    def usual_predictor(self) -> str:
        return predictor_default(self.talker_mix).name

    @property
    def graphs(self) -> int:
        return 0

    def files(self, material: Material) -> Sequence[NewFile]:
        """Talker, predictor, tables."""
        plans = planner(material)
        return [
            gguf_file(plans.talker(self.talker_mix), self.talker, material.source),
            gguf_file(plans.predictor(self.predictor_mix), self.predictor, material.source),
            gguf_file(
                plans.tables(self.talker_mix, self.predictor_mix), self.talker, material.source
            ),
        ]


def planner(material: Material) -> Planner:
    """What plans the files of a checkpoint."""
    return Planner(material.spec, material.weights, k_quantize, material.threads)


def gguf_file(plan: Plan, quant: str, source: str) -> NewFile:
    """A planned file, which says what it was made from and quantised to."""
    nbytes = sum(tensor.nbytes for tensor in plan.tensors)
    return NewFile(plan.name, nbytes, partial(_write, plan, quant, source))


def _write(plan: Plan, quant: str, source: str, folder: Path, advance: Advance) -> None:
    marks: dict[str, gguf.Value] = {
        "s2s.format": FORMAT,
        "s2s.source": source,
        "s2s.quant": quant,
    }
    gguf.write(folder / plan.name, plan.metadata | marks, plan.tensors, advance, resume=True)


def k_quantize(rows: Floats, kind: TensorType) -> Bytes:
    """K-quants by the llama.cpp library, which is loaded at the first one."""
    from s2s.tts.qwen3.ggml.library import k_quantize, library

    return k_quantize(library(), rows, kind)
