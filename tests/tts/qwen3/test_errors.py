"""Whoever uses the core catches one class."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from s2s.core.errors import StageError
from s2s.tts.qwen3 import errors
from s2s.tts.qwen3.errors import Qwen3Error

SOURCES = Path(errors.__file__).parent


def test_one_class_stands_above_all_errors_of_the_core():
    found = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    ours = [each for each in found if each.__module__ == errors.__name__]
    assert len(ours) > 12
    assert all(issubclass(each, Qwen3Error) for each in ours)
    assert issubclass(Qwen3Error, StageError)


def test_no_other_module_of_the_core_has_an_error_class_of_its_own():
    for path in SOURCES.rglob("*.py"):
        if path.name == "errors.py":
            continue
        names = [node.name for node in ast.walk(ast.parse(path.read_text("utf-8")))
                 if isinstance(node, ast.ClassDef) and node.name.endswith("Error")]  # fmt: skip
        assert names == [], path
