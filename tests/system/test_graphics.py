"""Whether there is a graphics card: what the driver says, and what is made of its silence."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from s2s.system.graphics import cuda_cards


def driver(cards: int, begun: int = 0, counted: int = 0) -> Any:
    """A driver with cards, and what its functions give back: 0 is no error."""

    def count(found: Any) -> int:
        ctypes.cast(found, ctypes.POINTER(ctypes.c_int))[0] = cards
        return counted

    return SimpleNamespace(cuInit=lambda _: begun, cuDeviceGetCount=count)


@pytest.mark.parametrize(("platform", "name"), [("linux", "libcuda.so.1"), ("win32", "nvcuda.dll")])
def test_the_driver_says_how_many(platform: str, name: str) -> None:
    asked: list[str] = []

    def load(library: str) -> Any:
        asked.append(library)
        return driver(2)

    assert cuda_cards(load, platform) == 2
    assert asked == [name]


@pytest.mark.parametrize("broken", [driver(1, begun=100), driver(1, counted=3), object()])
def test_a_driver_that_does_not_work_has_none(broken: Any) -> None:
    assert cuda_cards(lambda _: broken, "linux") == 0


def test_without_a_driver_there_is_none() -> None:
    def load(name: str) -> Any:
        raise OSError(f"{name}: cannot open shared object file")

    assert cuda_cards(load, "linux") == 0
    assert cuda_cards(lambda _: driver(1), "darwin") == 0
