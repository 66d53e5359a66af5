"""Sizes of a damaged or hostile checkpoint, at every level: what the kernel makes has all the
memory that it needs, however large the numbers are; everything else is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.tts.qwen3.native import driver_sizes as of
from tests.tts.qwen3.native.driver_builds import LEVELS, SANITIZED, Build, Made, run_raw
from tests.tts.qwen3.native.driver_sizes import FILES, OVERFLOWING, Sized

NATIVE_LEVEL = Build("native")
NOT_CHECKED = Sized(1, ("rows", "columns", "bits"), (64, 64, 8))


def hold(way: Build, made: Made, folder: pytest.TempPathFactory, sizes: Sequence[Sized]) -> None:
    """All of the sizes against what they need."""
    path = of.write(folder.mktemp("sizes") / "sizes", sizes)
    of.check(sizes, run_raw([*way.under, str(made(way))], path, 1, way.environment))


@settings(max_examples=20)
@given(sizes=FILES)
def test_nothing_is_made_in_less_memory_than_it_needs(
    made: Made, tmp_path_factory: pytest.TempPathFactory, sizes: list[Sized]
) -> None:
    hold(NATIVE_LEVEL, made, tmp_path_factory, sizes)


def refuse_what_overflows(way: Build, made: Made, folder: Path) -> None:
    """All of the sizes that cannot be counted are refused."""
    path = of.write(folder / "sizes", OVERFLOWING)
    lines = run_raw([*way.under, str(made(way))], path, 1, way.environment)
    found = [line.split()[:2] for line in lines if line.startswith("sizes/")]
    assert len(found) == len(OVERFLOWING)
    assert all(words[1] == "refused" for words in found), found


def test_products_that_are_too_large_to_be_counted_are_no_small_ones(
    made: Made, tmp_path: Path
) -> None:
    refuse_what_overflows(NATIVE_LEVEL, made, tmp_path)


def test_what_is_made_in_too_little_is_told() -> None:
    with pytest.raises(AssertionError):
        of.check([NOT_CHECKED], ["sizes/0/matrix made 4000"])
    with pytest.raises(AssertionError):
        of.check([NOT_CHECKED], ["sizes/0/matrix refused 0"])
    of.check([NOT_CHECKED], ["sizes/0/matrix made 4352"])


@pytest.mark.emulation
@pytest.mark.parametrize("name", LEVELS)
@settings(max_examples=6)
@given(sizes=FILES)
def test_nothing_is_made_in_less_memory_than_it_needs_on_any_level(
    name: str, made: Made, tmp_path_factory: pytest.TempPathFactory, sizes: list[Sized]
) -> None:
    hold(LEVELS[name], made, tmp_path_factory, sizes)


@pytest.mark.sanitizers
@pytest.mark.parametrize("name", SANITIZED)
@settings(max_examples=30)
@given(sizes=FILES)
def test_a_compilers_checks_find_nothing_in_sizes_of_all_kinds(
    name: str, made: Made, tmp_path_factory: pytest.TempPathFactory, sizes: list[Sized]
) -> None:
    hold(SANITIZED[name], made, tmp_path_factory, sizes)


@pytest.mark.sanitizers
@pytest.mark.parametrize("name", SANITIZED)
def test_products_that_are_too_large_are_not_counted_in_too_few_bits(
    name: str, made: Made, tmp_path: Path
) -> None:
    """Where they were, and the sum was refused in the end, only a compiler's checks tell."""
    refuse_what_overflows(SANITIZED[name], made, tmp_path)
