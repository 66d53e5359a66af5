"""The ways in: every name is there, is loaded when it is used, and no runtime comes with it."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

DOORS = ("s2s.tts.qwen3", "s2s.tts.qwen3.checkpoint")
RUNTIMES = ("torch", "onnxruntime", "llama_cpp", "xllamacpp")


@pytest.mark.parametrize("name", DOORS)
def test_every_name_is_typed_listed_and_found(name: str) -> None:
    door = importlib.import_module(name)
    tree = ast.parse(Path(door.__file__ or "").read_text(encoding="utf-8"))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name: f"{node.module}"
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(imported) == sorted(door.__all__)
    assert len(door.__all__) == len(set(door.__all__))
    for each, module in imported.items():
        assert getattr(door, each) is getattr(importlib.import_module(module), each)


def test_another_name_is_an_error_that_lists_the_known() -> None:
    door = importlib.import_module("s2s.tts.qwen3")
    with pytest.raises(AttributeError, match=r"has no 'NativeTalker'; it has AUTO, .*open_model"):
        door.NativeTalker  # noqa: B018


def test_no_name_of_a_door_loads_a_runtime_and_the_door_itself_loads_nothing() -> None:
    code = (
        "import sys, s2s.tts.qwen3 as door, s2s.tts.qwen3.checkpoint as files;"
        "inner = [m for m in sys.modules if m.startswith('s2s.tts.qwen3.')];"
        "[getattr(d, n) for d in (door, files) for n in d.__all__];"
        f"print(inner, [name for name in {RUNTIMES} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['s2s.tts.qwen3.checkpoint'] []"
