"""MLX as the tests have it: its build for Linux' processors, in an environment of its own."""

from __future__ import annotations

from pathlib import Path

from tests.support.other_voices import OtherVoice


def in_mlx(part: str) -> OtherVoice:
    """What runs PART_qwen3_mlx.py beside this file."""
    return OtherVoice("qwen3-mlx", ["mlx[cpu]==0.32.4"], does=part, programs=Path(__file__).parent)
