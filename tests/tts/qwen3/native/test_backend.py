"""The compiled kernel as a backend: its quantisations, what it lacks, and other threads."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.errors import BackendError, KernelError
from s2s.tts.qwen3.native import backend as module
from s2s.tts.qwen3.native.backend import NativeBackend


@pytest.mark.parametrize("quant", ["q4_k_m", "Q8_0"])
def test_it_computes_in_what_was_asked_for(quant: str) -> None:
    wished = Quants(quant, "q8_0")
    assert NativeBackend().quant(wished) == wished


@pytest.mark.parametrize(
    ("quant", "said"), [("f32", "more than native computes in"), ("int4", "nothing like int4")]
)
def test_what_it_cannot_compute_in_is_refused(quant: str, said: str) -> None:
    with pytest.raises(BackendError, match=said):
        NativeBackend().quant(Quants(quant))


def test_it_needs_a_compiler_and_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> list[str]:
        raise KernelError("no C compiler")

    monkeypatch.setattr(module, "require_kernel", lambda: ["cc"])
    monkeypatch.setattr(module, "installed", list)
    assert "xllamacpp" in str(NativeBackend().missing())
    monkeypatch.setattr(module, "require_kernel", none)
    assert NativeBackend().missing() == "no C compiler"
    assert NativeBackend().codec.missing() == "no C compiler"
