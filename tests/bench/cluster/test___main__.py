"""`python -m s2s.bench.cluster` where there is no Ray."""

from __future__ import annotations

import importlib.util

import pytest

from s2s.bench.cluster.__main__ import main
from s2s.bench.entry import run_measurement


def test_ray_that_is_not_installed_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find_spec = importlib.util.find_spec

    def without_ray(name: str, package: str | None = None) -> object:
        return None if name == "ray" else find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_ray)
    assert run_measurement(main) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ray is not installed. Install it: pip")
