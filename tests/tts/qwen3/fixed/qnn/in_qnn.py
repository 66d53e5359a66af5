"""Qualcomm's compiler and simulator as the tests have them: in an environment of their own."""

from __future__ import annotations

from pathlib import Path

from tests.support.other_voices import OtherVoice


def in_qnn(part: str) -> OtherVoice:
    """What runs PART_qwen3_qnn.py beside this file."""
    packages = ["onnxruntime-qnn==2.7.0", "onnxruntime==1.32.0"]
    return OtherVoice("qwen3-qnn", packages, does=part, programs=Path(__file__).parent)
