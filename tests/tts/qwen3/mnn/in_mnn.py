"""MNN as the tests have it: its wheel, in an environment of its own."""

from __future__ import annotations

from pathlib import Path

from tests.support.other_voices import OtherVoice


def in_mnn(part: str) -> OtherVoice:
    """What runs PART_qwen3_mnn.py beside this file."""
    return OtherVoice("qwen3-mnn", ["MNN==3.6.1"], does=part, programs=Path(__file__).parent)
