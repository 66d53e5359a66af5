"""How MNN stores the language model: its converter's own blocks of few bits, or floats."""

from __future__ import annotations

from dataclasses import dataclass

_SCALE_BYTES = 8
"""Of a block: a scale and a zero point in float32."""


@dataclass(frozen=True, slots=True)
class MnnMix:
    """A named storage of one decoder's matrices. bits: 32 for float32 as it is; block: values of a
    row that share a scale and a zero point."""

    name: str
    bits: int
    block: int = 0

    @property
    def whole(self) -> bool:
        """Nothing is quantised."""
        return self.bits == 32

    @property
    def arguments(self) -> list[str]:
        """What the converter is told."""
        if self.whole:
            return []
        return [
            *("--weightQuantBits", str(self.bits), "--weightQuantBlock", str(self.block)),
            "--weightQuantAsymmetric",
        ]

    def nbytes(self, rows: int, width: int) -> int:
        """Stored bytes of a matrix, about."""
        if self.whole:
            return 4 * rows * width
        return rows * (width * self.bits // 8 + _SCALE_BYTES * -(-width // self.block))


MNN_MIXES = {
    mix.name: mix
    for mix in (
        MnnMix("mnn-f32", 32),
        MnnMix("mnn-8", 8, 64),
        MnnMix("mnn-4", 4, 64),
        MnnMix("mnn-4-32", 4, 32),
    )
}
"""By name. Weights of few bits are multiplied with activations that MNN rounds to eight."""


def predictor_default(talker: MnnMix) -> MnnMix:
    """What the code predictor gets when nothing else is asked for: never below eight bits, as on
    every core."""
    return talker if talker.bits >= 8 else MNN_MIXES["mnn-8"]
