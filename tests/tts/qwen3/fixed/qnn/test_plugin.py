"""The package as it is found. At work, where it is installed: `test_simulated.py`."""

from __future__ import annotations

import importlib.util
import platform

import pytest

from s2s.tts.qwen3.fixed.qnn.options import QnnOptions
from s2s.tts.qwen3.fixed.qnn.plugin import InstalledPlugin


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    missing = InstalledPlugin().missing(QnnOptions(simulate=True))
    assert missing == "onnxruntime-qnn is not installed: pip install 's2s[qwen3,qnn]'"


@pytest.mark.parametrize("machine", ["x86_64", "AMD64"])
def test_a_processor_without_the_chip_computes_when_that_is_asked(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    missing = InstalledPlugin().missing(QnnOptions())
    assert missing is not None
    assert "no Hexagon processor here; fixed@qnn:simulate=1 computes" in missing
    assert InstalledPlugin().missing(QnnOptions(simulate=True)) is None
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert InstalledPlugin().missing(QnnOptions()) is None
