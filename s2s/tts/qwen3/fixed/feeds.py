"""What goes into a run over a cache of slots, and what its talker's outputs say: of every runtime
whose graphs are made of these operators.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.fixed.operators import MASKED
from s2s.tts.qwen3.interfaces import Floats, TalkerOutput


def cache_mask(filled: int, slots: int, n: int) -> Floats:
    """float32 [n, slots + n]: each row sees the slots that are filled, itself, and the rows before
    it."""
    mask = np.zeros((n, slots + n), np.float32)
    mask[:, filled:slots] = MASKED
    mask[:, slots:] = np.triu(np.full((n, n), MASKED, np.float32), 1)
    return mask


def talker_output(found: Mapping[str, Floats], spec: Spec) -> TalkerOutput:
    """From "logits", of each code and of the end of speech behind them, and "hidden"; all other
    ids have logits of -inf."""
    known, codes = found["logits"].reshape(-1), spec.codes
    logits = np.full(spec.talker.vocabulary, -np.inf, np.float32)
    logits[:codes] = known[:codes]
    logits[spec.ids.eos] = known[codes]
    return TalkerOutput(logits, found["hidden"].reshape(-1))
