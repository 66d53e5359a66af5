"""MNN, where it is not installed."""

from __future__ import annotations

import importlib.machinery
import subprocess
import sys
from types import ModuleType

import pytest

from s2s.tts.qwen3.mnn import converter
from tests.tts.qwen3.mnn.fake_mnn import Interpreter, Tensor, convert


@pytest.fixture
def fake_mnn(monkeypatch: pytest.MonkeyPatch) -> type[Interpreter]:
    """MNN is installed; what it has made."""
    module = ModuleType("MNN")
    module.__spec__ = importlib.machinery.ModuleSpec("MNN", None)
    parts = {
        "Interpreter": Interpreter, "Tensor": Tensor, "Halide_Type_Float": "float",
        "Halide_Type_Int": "int", "Tensor_DimensionType_Caffe": 1,
    }  # fmt: skip
    for name, part in parts.items():
        monkeypatch.setattr(module, name, part, raising=False)
    monkeypatch.setitem(sys.modules, "MNN", module)
    monkeypatch.setattr(Interpreter, "made", [])
    monkeypatch.setattr(converter, "version", lambda _: "3.6.1")
    monkeypatch.setattr(subprocess, "run", convert)
    return Interpreter
