"""Masks of caches, and what a talker's outputs say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.fixed.feeds import cache_mask, talker_output
from s2s.tts.qwen3.fixed.operators import MASKED


@given(st.integers(1, 6), st.integers(1, 5), st.data())
def test_a_row_sees_what_is_filled_itself_and_the_rows_before(
    slots: int, n: int, data: st.DataObject
) -> None:
    filled = data.draw(st.integers(0, slots))
    mask = cache_mask(filled, slots, n)
    for row in range(n):
        seen = [place for place in range(slots + n) if mask[row, place] == 0]
        assert seen == [*range(filled), *range(slots, slots + row + 1)]
    assert set(np.unique(mask)) <= {0, MASKED}


def test_only_codes_and_the_end_of_speech_can_be_said(tiny_qwen3: Callable[[str], Path]) -> None:
    spec = read_spec(tiny_qwen3("0.6b-base"))
    known = np.arange(spec.codes + 1, dtype=np.float32)
    hidden = np.ones((1, spec.talker.hidden), np.float32)
    told = talker_output({"logits": known[None], "hidden": hidden}, spec)
    assert told.logits.shape == (spec.talker.vocabulary,)
    assert list(told.logits[: spec.codes]) == list(known[:-1])
    assert told.logits[spec.ids.eos] == known[-1]
    assert np.isinf(told.logits).sum() == spec.talker.vocabulary - spec.codes - 1
    assert told.hidden.shape == (spec.talker.hidden,)
