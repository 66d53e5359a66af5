"""How the language model is stored for MLX: affine groups of 64, or floats."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.tts.qwen3.checkpoint.affine import GROUP, row_words


@dataclass(frozen=True, slots=True)
class AffineMix:
    """A named quantisation of one decoder. bits: of a code; 32 and 16 are float32 and bfloat16."""

    name: str
    bits: int

    @property
    def whole(self) -> bool:
        """Matrices are floats."""
        return self.bits >= 16

    @property
    def exact(self) -> bool:
        """All is computed in float32; else in bfloat16, as the official package does."""
        return self.bits == 32

    def nbytes(self, rows: int, width: int) -> int:
        """Stored bytes of a matrix."""
        if self.whole:
            return rows * width * self.bits // 8
        return rows * (4 * row_words(width, self.bits) + 4 * (width // GROUP))


AFFINE_MIXES = {
    mix.name: mix
    for mix in (
        AffineMix("mlx-f32", 32),
        AffineMix("mlx-bf16", 16),
        AffineMix("mlx-8", 8),
        AffineMix("mlx-6", 6),
        AffineMix("mlx-4", 4),
    )
}
"""Names of their own: `bf16` and `f32` are GGUF's, and lie in other files."""

DEFAULT_MIX = "mlx-6"


def predictor_default(talker: AffineMix) -> AffineMix:
    """What the code predictor gets when nothing else is asked for: never below eight bits, as on
    every core."""
    return talker if talker.whole else AFFINE_MIXES["mlx-8"]
