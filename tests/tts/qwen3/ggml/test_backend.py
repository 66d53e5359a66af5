"""llama.cpp as a backend: every quantisation of GGUF, on a graphics card too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.system.llama_cpp import Library, installed
from s2s.tts.qwen3.backend import Quants, Setting
from s2s.tts.qwen3.backends import by_itself
from s2s.tts.qwen3.checkpoint.quant import MIXES
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.errors import BackendError, LlamaError
from s2s.tts.qwen3.ggml import backend as module
from s2s.tts.qwen3.ggml.backend import GgmlBackend


@pytest.mark.parametrize("quant", MIXES)
def test_it_computes_in_every_one_of_them(quant: str) -> None:
    assert GgmlBackend().quant(Quants(quant)) == Quants(quant)


def test_another_is_refused_and_nothing_decodes_here() -> None:
    with pytest.raises(BackendError, match="nothing like int4"):
        GgmlBackend().quant(Quants("int4"))
    assert GgmlBackend().codec is None
    assert GgmlBackend().graphics


def test_it_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed", list)
    assert "pip install xllamacpp" in str(GgmlBackend().missing())
    monkeypatch.setattr(module, "installed", lambda: [("llama_cpp", "libllama.so")])
    assert GgmlBackend().missing() is None


def test_a_graphics_card_is_taken_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cards(Library):
        def __init__(self, *cards: str) -> None:
            self._cards = cards

        def graphics_cards(self) -> tuple[str, ...]:
            return self._cards

    monkeypatch.setattr(module, "library", lambda: Cards("RTX 9"))
    assert GgmlBackend().by_itself_on == "gpu"
    assert by_itself("ggml") == "ggml@gpu"
    assert by_itself("ggml@cpu") == "ggml@cpu"
    monkeypatch.setattr(module, "library", Cards)
    assert GgmlBackend().by_itself_on == "cpu"
    assert by_itself("GGML") == "ggml"

    def none() -> Library:
        raise LlamaError("no llama.cpp library")

    monkeypatch.setattr(module, "library", none)
    assert GgmlBackend().by_itself_on == "cpu"


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_what_a_card_does_not_take_is_said(
    converted_qwen3: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = converted_qwen3("0.6b-base", "q8_0")
    core = GgmlBackend().open(Setting(read_spec(folder), 1, folder))
    plain, _ = core.talker(folder, 0)
    assert core.remarks == ()
    without, _ = core.talker(folder, 20)
    if not module.library().graphics_cards():
        assert core.remarks[0].endswith("has no graphics card here")
    del plain, without
    assert core.remarks == (), "what has gone is not spoken of"

    monkeypatch.setattr(Library, "graphics_cards", lambda _: ("RTX 9",))
    opened = module.open_predictor

    def refuses(folder: Path, spec: Spec, threads: int, layers: int, draft: int) -> object:
        if layers:
            raise LlamaError("out of memory")
        return opened(folder, spec, threads, layers, draft)

    monkeypatch.setattr(module, "open_predictor", refuses)
    predictor, quant = core.predictor(folder, 20, 0)
    assert core.remarks == (
        "code predictor on the processor: RTX 9 does not take it: out of memory",
    )
    assert (predictor.draft_tokens, quant) == (0, "q8_0")
