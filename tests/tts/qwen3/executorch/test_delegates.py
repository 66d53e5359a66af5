"""The delegates that programs are exported for."""

from __future__ import annotations

import sys

import pytest

from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.executorch.delegates import DELEGATES, delegate_named


def test_names_are_checked() -> None:
    assert delegate_named("XNNPACK").runtime_name == "XnnpackBackend"
    assert list(DELEGATES) == ["xnnpack", "coreml", "qnn", "cuda"]
    with pytest.raises(BackendError, match=r"no delegate 'vulkan' here; known: xnnpack, coreml"):
        delegate_named("vulkan")


@pytest.mark.parametrize("name", DELEGATES)
def test_an_export_says_what_it_needs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "executorch", None)  # type: ignore[arg-type]
    with pytest.raises(BackendError, match=f"an export for {name} needs "):
        delegate_named(name).for_methods(["layers"])
