"""How the language model is stored for ExecuTorch: quantised for XNNPACK, or as another delegate
has it."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.tts.qwen3.executorch.delegates import DELEGATES, XNNPACK

GROUP = 32
"""Weights of a row that share a scale, in four bits."""


@dataclass(frozen=True, slots=True)
class ExportMix:
    """A named quantisation of one decoder, for one delegate.

    bits: of a weight; 32 is float32. Where they are fewer, what a matrix is multiplied with has
    eight bits, with a scale of its own at each product; in eight bits a row of weights shares a
    scale, in four a group of `GROUP` does.
    """

    name: str
    bits: int
    delegate: str = XNNPACK

    @property
    def whole(self) -> bool:
        """Matrices are float32."""
        return self.bits == 32

    def nbytes(self, rows: int, width: int) -> int:
        """About what a matrix of it takes in a file."""
        scales = rows * (width // GROUP if self.bits == 4 else 1)
        return rows * width * self.bits // 8 + (0 if self.whole else 4 * scales)


_OWN = (ExportMix("et-f32", 32), ExportMix("et-8", 8), ExportMix("et-4", 4))
EXPORT_MIXES = {
    mix.name: mix
    for mix in (
        *_OWN,
        *(ExportMix(f"et-{name}", 32, name) for name in DELEGATES if name != XNNPACK),
    )
}
"""Names of their own: a delegate's files are not another's. Those of the other delegates are given
float32, and compute in what they have."""


def predictor_default(talker: ExportMix) -> ExportMix:
    """What the code predictor gets when nothing else is asked for: never below eight bits, as on
    every core."""
    return talker if talker.whole else EXPORT_MIXES["et-8"]


def head_mix(mix: ExportMix) -> ExportMix:
    """How heads and projections are stored: eight bits are affordable there."""
    return mix if mix.whole else EXPORT_MIXES["et-8"]


def export_quant(quant: str, delegate: str) -> str:
    """What a delegate's files go by: ``quant`` for XNNPACK, else the delegate's own name."""
    return quant if delegate == XNNPACK else f"et-{delegate}"
