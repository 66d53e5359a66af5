"""ExecuTorch as the tests have it: with torch, in an environment of its own."""

from __future__ import annotations

from pathlib import Path

from tests.support.other_voices import OtherVoice


def in_executorch(part: str) -> OtherVoice:
    """What runs PART_qwen3_executorch.py beside this file."""
    packages = ["torch==2.13.0", "executorch==1.5.1"]
    return OtherVoice("qwen3-executorch", packages, does=part, programs=Path(__file__).parent)
