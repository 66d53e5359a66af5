"""Files of Python as syntax trees, each read once for all tests that look through them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """A file's syntax tree. Not to be changed."""
    return ast.parse(path.read_text(encoding="utf-8"))
