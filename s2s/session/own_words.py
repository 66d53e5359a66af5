"""The assistant's own words in what a microphone is supposed to have heard.

Whatever passes the canceller is written down together with what the person says; the recogniser
hears it badly, so words are alike rather than equal. Pure text; knows no sound.
"""

from __future__ import annotations

import re

import numpy as np

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+(?:'[^\W_]+)*")
_MIN_WORDS = 3
_SAME_WORDS = 0.75
_SLACK_WORDS = 3

_ALIKE, _UNLIKE, _NOT_SAID, _NOT_HEARD = 1.0, -0.7, -1.0, -0.55
"""What a pair of words adds to an alignment, a word that was heard between said ones, and one that
was said and not heard: recognisers leave more out than they put in."""
_PASSAGES = 3
"""Own words stand in one piece before and one behind the person's; a third is for luck."""
_LONGEST_WORDS = 60
_FEWEST_ALIKE = 1.9
"""Two words alike are a stretch; one alone is chance, unless it is all that was heard or nearly."""
_BRIEF_WORDS = 2
_SURELY_OWN = 2.5
"""So many own words for each other one: that is one that was misheard."""


def is_echo(transcript: str, spoken: str) -> bool:
    """Whether `transcript` is the assistant's own words, heard through the speaker.

    It is when three quarters of its words stand in the same order, close together, in what the
    assistant said. Fewer than three words are never taken for echo: "stop" must work even while
    the assistant says "stop".

    Args:
        transcript: what the microphone is supposed to have heard.
        spoken: what the assistant said lately (up to half a minute is enough).
    """
    heard = _words(transcript)
    said = _words(spoken)
    if len(heard) < _MIN_WORDS or not said:
        return False
    needed = int(np.ceil(_SAME_WORDS * len(heard)))
    width = len(heard) + _SLACK_WORDS
    starts = range(max(1, len(said) - width + 1))
    return any(_in_order(heard, said[start : start + width]) >= needed for start in starts)


def other_words(transcript: str, spoken: str) -> str:
    """`transcript` without the assistant's own words; "" when there are no others.

    Own are the stretches that run alongside what was being said, words inside of them that were
    misheard included. So "long reply stop" is "stop" while "a long reply" is said.

    Args:
        transcript: what the microphone is supposed to have heard.
        spoken: what the assistant was just saying: a sentence or two, for among more words every
            short one is found.
    """
    found = list(_WORD.finditer(transcript))[:_LONGEST_WORDS]
    heard = [_plain(match.group()) for match in found]
    said = _words(spoken)[-_LONGEST_WORDS:]
    own = [False] * len(heard)
    stretches = [(0, len(heard))]
    for _ in range(_PASSAGES):
        if not stretches:
            break
        start, end = stretches.pop()
        score, first, last = _alike_part(heard[start:end], said)
        if score < (_ALIKE if len(heard) <= _BRIEF_WORDS else _FEWEST_ALIKE):
            continue
        own[start + first : start + last] = [True] * (last - first)
        parts = ((start, start + first), (start + last, end))
        stretches += [part for part in parts if part[0] < part[1]]
    kept = [match.group() for match, is_own in zip(found, own, strict=True) if not is_own]
    if len(kept) == len(found):
        return transcript
    if len(found) - len(kept) >= _SURELY_OWN * len(kept):
        return ""  # misheard, too
    return " ".join(kept)


def _alike_part(heard: list[str], said: list[str]) -> tuple[float, int, int]:
    """How well some part of `heard` runs alongside a part of `said`, and from where to where that
    is; 0 for no such part. Smith and Waterman's local alignment."""
    scores = [(0.0, 0)] * (len(said) + 1)
    best, found = 0.0, (0, 0)
    for row, word in enumerate(heard):
        above = scores
        scores = [(0.0, row + 1)]
        for column, other in enumerate(said):
            pair = _ALIKE if alike(word, other) else _UNLIKE
            score, start = max(
                (above[column][0] + pair, -above[column][1]),
                (above[column + 1][0] + _NOT_SAID, -above[column + 1][1]),
                (scores[column][0] + _NOT_HEARD, -scores[column][1]),
                (0.0, -(row + 1)),
            )
            scores.append((score, -start))
            if score > best:
                best, found = score, (-start, row + 1)
    return (best, *found)


def alike(word: str, other: str) -> bool:
    """Whether a recogniser may write one of two words for the other: equal, or two thirds of the
    longer one's letters in the same order, the first one among them."""
    if word == other:
        return True
    longest = max(len(word), len(other))
    if longest < 5 or word[:1] != other[:1]:
        return False
    return 3 * _in_order(list(word), list(other)) >= 2 * longest


def _words(text: str) -> list[str]:
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


def _in_order(one: list[str], two: list[str]) -> int:
    """Length of the longest common subsequence of words."""
    lengths = [0] * (len(two) + 1)
    for word in one:
        before = 0
        for i, other in enumerate(two, start=1):
            before, lengths[i] = (
                lengths[i],
                before + 1 if word == other else max(lengths[i], lengths[i - 1]),
            )
    return lengths[-1]
