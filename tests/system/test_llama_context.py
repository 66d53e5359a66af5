"""Models of llama.cpp and their caches: tokens in, logits out, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.models.store import Store
from s2s.system.llama_context import CardUse, LlamaContext, LlamaModel, floats_at, on_card
from s2s.system.llama_cpp import Library, LlamaCppError, installed, library

pytestmark = [
    pytest.mark.ggml,
    pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp"),
]
TOKENS = [1, 504, 3575, 282, 4649]


@pytest.fixture(scope="module")
def model() -> LlamaModel:
    path = Store().path("smollm2-135m")
    return LlamaModel(library(), path if path.is_file() else next(path.glob("*.gguf")))


def context(model: LlamaModel, room: int = 64, batch: int = 16) -> LlamaContext:
    return LlamaContext(model, room, batch, 1, vectors=False)


@pytest.mark.models
def test_a_prompt_gives_the_logits_of_its_last_token(model: LlamaModel) -> None:
    whole = context(model)
    whole.feed_tokens(TOKENS)
    logits = whole.logits()
    assert logits.shape == (model.vocabulary,)
    assert np.isfinite(logits).all()
    piecewise = context(model)
    for token in TOKENS:
        piecewise.feed_tokens([token])
    assert int(piecewise.logits().argmax()) == int(logits.argmax())
    assert whole.positions == piecewise.positions == len(TOKENS)


@pytest.mark.models
def test_going_back_is_as_if_it_had_not_been_fed(model: LlamaModel) -> None:
    one = context(model)
    one.feed_tokens(TOKENS[:3])
    one.feed_tokens(TOKENS[3:4])
    first = one.logits()
    one.rewind(3)
    one.feed_tokens(TOKENS[4:5])
    one.rewind(3)
    one.feed_tokens(TOKENS[3:4])
    np.testing.assert_allclose(one.logits(), first, atol=1e-4)
    one.clear()
    assert one.positions == 0


@pytest.mark.models
def test_what_does_not_fit_is_refused(model: LlamaModel) -> None:
    one = context(model, room=8, batch=4)
    for wrong in ([], [1] * 5):
        with pytest.raises(ValueError, match="do not fit"):
            one.feed_tokens(wrong)
    one.feed_tokens([1] * 4)
    one.feed_tokens([1] * 3)
    with pytest.raises(ValueError, match="2 tokens do not fit: 7 of 8"):
        one.feed_tokens([1, 1])
    with pytest.raises(ValueError, match="cannot go back to 9"):
        one.rewind(9)
    one.close()
    one.close()
    with pytest.raises(ValueError, match="closed"):
        one.feed_tokens([1])


def test_a_file_that_is_no_model_is_refused_in_the_librarys_words(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"nothing")
    with pytest.raises(LlamaCppError, match=r"x\.gguf cannot be loaded"):
        LlamaModel(library(), tmp_path / "x.gguf")


def test_floats_are_read_where_they_lie() -> None:
    values = np.arange(5, dtype=np.float32)
    assert floats_at(values.ctypes.data, 5).tolist() == [0, 1, 2, 3, 4]


class Cards(Library):
    """A library with these graphics cards."""

    def __init__(self, *cards: str) -> None:
        self.error = LlamaCppError
        self._cards = cards

    def graphics_cards(self) -> tuple[str, ...]:
        return self._cards


def test_what_a_card_takes_is_on_it() -> None:
    made, use = on_card(Cards("RTX 9", "RTX 8"), 20, lambda layers: layers)
    assert (made, use) == (20, CardUse(card="RTX 9"))


@pytest.mark.parametrize(("cards", "layers"), [((), 20), (("RTX 9",), 0)])
def test_without_a_card_or_layers_for_it_nothing_is_said(
    cards: tuple[str, ...], layers: int
) -> None:
    assert on_card(Cards(*cards), layers, lambda given: given) == (0, CardUse())


def test_what_a_card_does_not_take_is_on_the_processor_with_the_reason() -> None:
    def make(layers: int) -> int:
        if layers:
            raise LlamaCppError("out of memory")
        return layers

    made, use = on_card(Cards("RTX 9"), 20, make)
    assert (made, use.card) == (0, "")
    assert use.refused == "RTX 9 does not take it: out of memory"


def test_what_nothing_can_take_is_an_error() -> None:
    def make(layers: int) -> int:
        raise LlamaCppError(f"no GGUF file, {layers} layers")

    with pytest.raises(LlamaCppError, match="no GGUF file, 0 layers"):
        on_card(Cards("RTX 9"), 20, make)
