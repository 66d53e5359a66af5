"""ONNX Runtime as a backend: its quantisations in place of others, and what it lacks."""

from __future__ import annotations

import importlib.util

import pytest

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.onnx.backend import OnnxBackend


@pytest.mark.parametrize(
    ("wished", "computed"),
    [
        (Quants("int8"), Quants("int8")),
        (Quants("q4_k_m"), Quants("int4", None)),
        (Quants("Q6_K", "q8_0"), Quants("int8", "int8")),
    ],
)
def test_the_next_with_as_many_bits_is_taken(wished: Quants, computed: Quants) -> None:
    assert OnnxBackend().quant(wished) == computed


@pytest.mark.parametrize("wished", [Quants("bf16"), Quants("q8_0", "bf16")])
def test_what_it_has_nothing_like_is_refused(wished: Quants) -> None:
    with pytest.raises(BackendError, match=r"it has .*int8"):
        OnnxBackend().quant(wished)


def test_it_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert OnnxBackend().missing() is None
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert "pip install 's2s[qwen3]'" in str(OnnxBackend().missing())
