"""Values that are given instead of random ones, in whatever pieces a tensor is made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.testing.patches import Patch

SHAPE = (3, 4)
PATCHES = {
    "cell": (Patch.cell(SHAPE, (1, 2), 9.0), {(1, 2): 9.0}),
    "row": (Patch.row(SHAPE, 2, [1, 2, 3, 4]), {(2, column): column + 1.0 for column in range(4)}),
    "rows": (Patch.rows(SHAPE, [0, 2], 7.0), {(r, c): 7.0 for r in (0, 2) for c in range(4)}),
    "column": (Patch.column(SHAPE, 1, [5, 6, 7]), {(row, 1): row + 5.0 for row in range(3)}),
}


@pytest.mark.parametrize("name", PATCHES)
@given(size=st.integers(1, 12))
def test_a_patch_sets_its_values_whatever_the_pieces(name: str, size: int) -> None:
    patch, cells = PATCHES[name]
    flat = np.full(12, -1.0, np.float32)
    for start in range(0, 12, size):
        patch.apply(flat[start : start + size], start)
    expected = np.full(SHAPE, -1.0, np.float32)
    for cell, value in cells.items():
        expected[cell] = value
    np.testing.assert_array_equal(flat.reshape(SHAPE), expected)
