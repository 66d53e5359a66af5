"""A stack of layers on MLX: what it takes and gives, in MLX itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.other_voices import check_voice
from tests.tts.qwen3.mlx.in_mlx import in_mlx

CHECKS = {
    "as the reference", "caches that were given stay", "grown", "bits of MLX's own quantiser",
    "a product of what we pack", "bfloat16 by its bits",
}  # fmt: skip


@pytest.mark.voices
@pytest.mark.timeout(2400)
def test_layers_compute_what_the_reference_does(tmp_path: Path) -> None:
    assert check_voice(in_mlx("layers"), tmp_path) == dict.fromkeys(CHECKS, True)
