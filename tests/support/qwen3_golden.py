"""What the official package computes on tiny checkpoints: made by make_golden_qwen3.py."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).parents[1] / "data" / "qwen3"
GOLDEN: dict[str, Any] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
FRAMES = 52
"""Frames of a greedy case."""
STEPS = 50
"""Of these, those whose logits are known."""


@lru_cache
def arrays(kind: str) -> dict[str, Any]:
    """The arrays of a kind, by `case/name`."""
    return dict(np.load(DATA / f"{kind}.npz"))


def greedy_cases() -> pytest.MarkDecorator:
    """A test for every kind and case that was recorded with greedy choices."""
    chosen = [
        (kind, case["name"])
        for kind, cases in GOLDEN["cases"].items()
        for case in cases
        if case.get("record") == "greedy"
    ]
    assert {kind for kind, _ in chosen} == set(GOLDEN["cases"])
    return pytest.mark.parametrize(
        ("kind", "case"), chosen, ids=[f"{kind}-{name}" for kind, name in chosen]
    )


def text_vector(known: dict[str, Any], case: str, frame: int) -> Any:
    """The text vector added to a frame: float32 [hidden]."""
    trailing = known[f"{case}/trailing"]
    return trailing[frame] if frame < len(trailing) else known[f"{case}/pad"]
