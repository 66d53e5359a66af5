"""Between which values the products of a language model lie: what was seen while it spoke, as a
file of a converted checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from s2s.core.untyped import is_list
from s2s.system.whole_file import write_whole
from s2s.tts.qwen3.checkpoint.fields import read_object
from s2s.tts.qwen3.errors import OnnxError
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.onnx.transformer import Rows

RANGES_FILE = "ranges.json"
SIDES = 4
"""Numbers of a product: the least and the largest of what is multiplied, and of its results."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """From the least value seen to the largest."""

    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class ProductRange:
    """What a matrix is multiplied with, and what comes of it."""

    given: ValueRange
    found: ValueRange


def product_name(parts: tuple[Rows, ...]) -> str:
    """Of a product with rows of the checkpoint's matrices, in files and graphs."""
    return " ".join(f"{each.name}[{each.start}:{each.stop}]" for each in parts)


@dataclass(slots=True)
class SeenRanges:
    """Grows with every run."""

    _sides: dict[str, Floats] = field(default_factory=dict[str, Floats])

    def add(self, product: str, sides: Floats) -> None:
        """sides: float32 [4], see `SIDES`. Raises OnnxError when one is no number."""
        if not np.isfinite(sides).all():
            raise OnnxError(f"{product} gives {sides.tolist()}: the checkpoint is no use")
        known = self._sides.get(product, sides)
        self._sides[product] = np.where(
            np.arange(SIDES) % 2, np.maximum(known, sides), np.minimum(known, sides)
        )

    def write(self, path: Path) -> None:
        """As `read_ranges` reads them. Raises OSError."""
        sides = {name: found.tolist() for name, found in sorted(self._sides.items())}
        write_whole(path, json.dumps(sides, indent=1) + "\n")


def read_ranges(path: Path) -> Mapping[str, ProductRange]:
    """By the products' names. Raises OnnxError for a file that is not as it was written."""
    return {
        name: _product(path, name, found) for name, found in read_object(path, OnnxError).items()
    }


def _product(path: Path, name: str, found: object) -> ProductRange:
    sides = [each for each in found if isinstance(each, float)] if is_list(found) else []
    if len(sides) != SIDES:
        raise OnnxError(f"{path}: {name} has {found!r}, not {SIDES} numbers; convert again")
    return ProductRange(ValueRange(*sides[:2]), ValueRange(*sides[2:]))
