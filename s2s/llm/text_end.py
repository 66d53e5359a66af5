"""Whether a person's words end where they do, by what a language model expects next.

Pure; knows no model. What is asked is how likely the token behind the words is one that ends them:
the sign that closes their message, the mark of a sentence, a new line.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from s2s.llm.token_sampling import Logits

LIKELIEST = 20
"""Tokens looked at: the others together have less than a hundredth (docs/decisions/
end-of-turn-evidence.md)."""
MARKS = ".!?。！？…"
"""Marks that end a sentence. A recogniser writes one behind nearly anything: the last is left off
before the model is asked."""
FARTHEST = 8.0
"""Log-odds beyond which nothing is told apart."""


def without_last_mark(text: str) -> str:
    """`text` without the marks that end it; inner ones stay."""
    return text.rstrip().rstrip(MARKS).rstrip()


def ends_words(piece: bytes) -> bool:
    """A token that stands for `piece` ends a sentence: it begins with a mark of `MARKS`, or a new
    line. Two full stops and the ellipsis go on."""
    text = piece.decode(errors="replace").lstrip(" \t")
    return text.startswith(("\n", "\r", *MARKS)) and not text.startswith(("..", "…"))


def ending_log_odds(logits: Logits, ends: Callable[[int], bool]) -> float:
    """Log-odds that the next token is one that `ends` names, by the `LIKELIEST` alone.

    Args:
        logits: float32 [vocabulary], behind the words.
        ends: whether a token, by its number, ends the words.

    Returns:
        between -`FARTHEST` and `FARTHEST`.
    """
    count = min(LIKELIEST, len(logits))
    likeliest = np.argpartition(logits, -count)[-count:]
    exponents = np.exp(logits.astype(np.float64) - float(logits.max()))
    whole = float(exponents.sum())
    ending = sum(float(exponents[token]) for token in likeliest if ends(int(token)))
    least = whole * math.exp(-FARTHEST)
    odds = math.log(max(ending, least)) - math.log(max(whole - ending, least))
    return min(max(odds, -FARTHEST), FARTHEST)
