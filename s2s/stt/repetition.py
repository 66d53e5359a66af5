"""Notices when a decoder has begun to repeat itself. Pure; knows no model."""

from __future__ import annotations

from collections.abc import Sequence

MAX_PERIOD = 12
MIN_REPEATS = 4
MIN_REPEATED_TOKENS = 12


def repeated_tail(tokens: Sequence[int]) -> int:
    """How many tokens to drop from the end of `tokens` because they only repeat what stands before.

    A loop is at least 4 copies of the same 1 to 12 tokens, at least 12 tokens in all: more than
    people say on purpose ("no, no, no, no"). One copy is kept. 0 when there is no loop.
    """
    for period in range(1, MAX_PERIOD + 1):
        copies = max(MIN_REPEATS, -(-MIN_REPEATED_TOKENS // period))
        span = copies * period
        if len(tokens) < span:
            continue
        tail = tokens[-span:]
        if all(tail[i] == tail[i - period] for i in range(period, span)):
            return span - period
    return 0
