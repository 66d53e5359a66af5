"""Sizes that a damaged or hostile checkpoint could name, for the kernel's driver without Python:
what they would take at the least, counted with numbers that have no end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from tests.tts.qwen3.native.driver_cases import Cases

_NUMBERS = 16
_ENDS = (-(2**31), -65536, -64, -16, -1, 0, 1, 15, 2**15, 2**16, 2**20, 2**24, 2**30, 2**31 - 64,
         2**31 - 16, 2**31 - 1)  # fmt: skip
_ITEM = 4  # bytes of a float
_SMALL, _LITTLE = 96, 1 << 19
"""Where every number is at most this, and what is needed at the least too, there is memory."""


@dataclass(frozen=True)
class Sized:
    """What is to be made. names: of its numbers."""

    kind: int
    names: tuple[str, ...]
    numbers: tuple[int, ...]

    def named(self) -> dict[str, int]:
        """Its numbers."""
        return dict(zip(self.names, self.numbers, strict=True))


_TRANSFORMER = ("hidden", "intermediate", "layers", "heads", "kv_heads", "head_dim", "capacity")
_CODEC = ("frames", "layers", "heads", "head_dim", "window", "upsamples", "into", "hidden", "inner",
          "latent", "factor")  # fmt: skip
_UPSAMPLER = ("frames", "steps", "blocks", "batched", "latent", "width", "stride", "dilation")


def _some(*usual: int) -> st.SearchStrategy[int]:
    """Mostly what is usual."""
    return st.one_of(st.sampled_from(usual), st.sampled_from(usual), st.sampled_from(usual),
                     st.sampled_from(usual), st.sampled_from(_ENDS))  # fmt: skip


def _listed(*usual: int) -> st.SearchStrategy[int]:
    """How many of a list: the driver has no more than 64."""
    return st.one_of(st.sampled_from(usual), st.sampled_from((-(2**31), -1, 0, 64)))


SIZES: st.SearchStrategy[Sized] = st.one_of(
    st.builds(
        lambda high, low: Sized(0, ("high", "low"), (high, low)),
        st.sampled_from((0, 0, 1, 2**31 - 1, -1)),
        st.sampled_from((1, 4096, 2**20, -1, -3072, -(2**21), -(2**21) - 3072, 2**31 - 1)),
    ),
    st.builds(
        lambda *numbers: Sized(1, ("rows", "columns", "bits"), numbers),
        _some(1, 37, 64), _some(32, 64, 96), st.sampled_from((4, 8, 4, 8, -8, 0, 5, 2**30)),
    ),
    st.builds(
        lambda *numbers: Sized(2, _TRANSFORMER, numbers),
        _some(32, 64), _some(32, 96), _some(1, 2), _some(2, 4), _some(1, 2), _some(64),
        _some(1, 40),
    ),
    st.builds(
        lambda *numbers: Sized(3, _CODEC, numbers),
        _some(1, 4), _listed(1, 2), _some(1, 2), _some(16, 32), _some(1, 9), _listed(1, 2),
        _some(16, 32), _some(16, 48), _some(16, 80), _some(16, 64), _some(1, 2),
    ),
    st.builds(
        lambda *numbers: Sized(4, _UPSAMPLER, numbers),
        _some(1, 4), _some(1, 4), _listed(1, 2), _some(0, 1), _some(16, 32), _some(16, 64, 96),
        _some(1, 3), _some(1, 3, 9),
    ),
)  # fmt: skip
FILES = st.lists(SIZES, min_size=30, max_size=60)
OVERFLOWING = [
    *(Sized(0, ("high", "low"), (-1, -left)) for left in (1, 3072, 2**21, 2**21 + 3072)),
    Sized(1, ("rows", "columns", "bits"), (2**30, 2**27, 8)),
    Sized(1, ("rows", "columns", "bits"), (2**31 - 1, 32, 4)),
    *(
        Sized(2, _TRANSFORMER, numbers)
        for numbers in (
            (32, 32, 1, 2**25, 1, 64, 1), (32, 32, 1, 2**26, 2**26, 64, 1),
            (32, 32, 1, 2**27, 2**25, 128, 1), (2**31 - 32, 32, 1, 1, 1, 64, 1),
            (32, 2**31 - 32, 1, 1, 1, 64, 1), (32, 32, 2**31 - 1, 1, 1, 64, 1),
            (32, 32, 2**28, 1, 1, 64, 1),
        )
    ),
    *(
        Sized(3, _CODEC, numbers)
        for numbers in (
            (2**31 - 1, 1, 1, 16, 1, 1, 16, 16, 16, 16, 1),
            (2**28, 1, 1, 16, 1, 1, 16, 16, 16, 16, 16),
            (1, 1, 2**28, 16, 1, 1, 16, 16, 16, 16, 1),
            (1, 1, 1, 16, 2**31 - 1, 1, 16, 16, 16, 16, 1),
            (1, 1, 1, 16, 1, 64, 16, 16, 16, 16, 2), (1, 1, 1, 16, 1, 1, 16, 16, 16, 2**28, 16),
            (1, 1, 1, 16, 1, 1, 16, 2**30, 16, 16, 1), (1, 1, 1, 16, 1, 1, 16, 16, 2**30, 16, 1),
        )
    ),
    *(
        Sized(4, _UPSAMPLER, numbers)
        for numbers in (
            (1, 2**16, 1, 1, 16, 16, 2**16, 1), (2**16, 2**16, 1, 1, 16, 16, 1, 1),
            (1, 1, 64, 1, 16, 16, 2, 1), (1, 1, 64, 0, 16, 16, 3, 1),
            (1, 1, 1, 1, 16, 16, 1, 2**30), (1, 1, 1, 1, 16, 2**30, 16, 1),
            (2**31 - 1, 1, 1, 1, 2**31 - 16, 16, 1, 1),
        )
    ),
]  # fmt: skip
"""Whose products are small, or nothing, where they are counted in 32 or in 64 bits."""


def write(path: Path, sizes: Sequence[Sized]) -> Path:
    """A file of these cases."""
    cases = Cases()
    for each in sizes:
        numbers = [each.kind, *each.numbers]
        padded = np.array(numbers + [0] * (_NUMBERS - len(numbers)))
        cases.add("sizes", {"shape": padded})
    return cases.write(path)


def check(sizes: Sequence[Sized], lines: Sequence[str]) -> None:
    """Whether each was made that must be, and nothing in less memory than it needs."""
    seen = 0
    for line in lines:
        words = line.split()
        if not words[0].startswith("sizes/"):
            continue
        _, at, what = words[0].split("/")
        each, made, size = sizes[int(at)], words[1] == "made", int(words[2])
        needed = _needed(each, what)
        seen += 1
        if made:
            assert needed is not None, (each, what)
            assert size >= needed, (each, what, needed)
        else:
            large = max(each.numbers) > _SMALL or (needed or 0) > _LITTLE
            assert needed is None or large, (each, what, needed)
    assert seen >= len(sizes)


def _needed(sized: Sized, what: str) -> int | None:
    """Bytes at the least, or None for what cannot be."""
    of = sized.named()
    if what == "weights":
        return (of["high"] % 2**32 << 32) + of["low"] % 2**32
    if what == "matrix":
        return _matrix(of)
    if what == "transformer":
        return _transformer(of)
    if what == "cache":
        values = of["layers"] * of["kv_heads"] * of["capacity"] * of["head_dim"]
        return None if of["capacity"] < 1 else 2 * 2 * values + _ITEM * of["capacity"] * 64
    return _codec(of) if what == "codec_transformer" else _upsampler(of)


def _matrix(of: dict[str, int]) -> int | None:
    if of["bits"] not in (4, 8) or of["rows"] < 1 or of["columns"] < 1 or of["columns"] % 32:
        return None
    return of["rows"] * of["columns"] * of["bits"] // 8


def _transformer(of: dict[str, int]) -> int | None:
    positive = min(of[name] for name in _TRANSFORMER[:-1]) > 0
    if not positive or of["hidden"] % 32 or of["intermediate"] % 32 or of["head_dim"] % 64:
        return None
    if of["heads"] % of["kv_heads"]:
        return None
    inner, kv = of["heads"] * of["head_dim"], of["kv_heads"] * of["head_dim"]
    return _ITEM * 32 * (2 * inner + 2 * kv + of["intermediate"] + of["hidden"])


def _codec(of: dict[str, int]) -> int | None:
    widths = ("head_dim", "into", "hidden", "inner", "latent")
    if min(of.values()) < 1 or any(of[name] % 16 for name in widths):
        return None
    rows = of["frames"] * of["factor"] ** of["upsamples"]
    heads = of["heads"] * of["head_dim"]
    return _ITEM * (
        of["frames"] * (4 * heads + of["hidden"] + of["inner"]) + 3 * rows * of["latent"]
        + of["window"]
    )  # fmt: skip


def _upsampler(of: dict[str, int]) -> int | None:
    numbers = [of[name] for name in _UPSAMPLER if name != "batched"]
    if min(numbers) < 1 or not 0 <= of["batched"] <= of["blocks"] or of["latent"] % 16:
        return None
    rows, width, size = of["frames"] * of["steps"], of["width"], 0
    for at in range(of["blocks"]):
        if width % 16:
            return None
        size += rows * width
        if at >= of["batched"]:
            rows = of["steps"] * of["stride"] ** at
        rows, width = rows * of["stride"], width // 2 if width > 32 else width
        size += 2 * rows * width
    return None if width % 16 else _ITEM * size
