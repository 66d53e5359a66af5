"""When each word was said: the times that recognisers tell, fitted to the words of a text. Pure.

A recogniser's own words are rarely those of its text: they are tokens, or have no punctuation, or
a taught word was put in place of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from s2s.stt.base import TimedWord

LONGEST_TOKEN_S = 0.4
"""Of a token of which only the start is known: what comes later is a pause."""

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_SPACES = re.compile(r"\s+")


def words_in(text: str) -> list[str]:
    """Its words: what stands between spaces; of scripts without spaces each sign."""
    return _WORD.findall(text)


def shared(text: str, start_s: float, end_s: float) -> tuple[TimedWord, ...]:
    """The words of `text` with the time shared among them by their lengths, for a recogniser that
    tells no times."""
    return _shared(words_in(text), start_s, end_s)


def fitted(text: str, told: Sequence[TimedWord]) -> tuple[TimedWord, ...]:
    """The words of `text` with the times of `told`, which says about the same.

    Words that both have keep their times; those between two of them share the time between. Starts
    never go back, and no word ends before it starts. Empty where nothing was told.
    """
    told = list(_in_order(told))
    if not told:
        return ()
    if _bare_text(text) == _bare_text("".join(word.text for word in told)):
        return tuple(told)  # the recogniser's own words, whatever stands between them
    words = words_in(text)
    match = SequenceMatcher(
        None, [_bare(word.text) for word in told], [_bare(word) for word in words], autojunk=False
    )
    fit: list[TimedWord] = []
    for kind, first, last, start, end in match.get_opcodes():
        if kind == "equal":
            pairs = zip(told[first:last], words[start:end], strict=True)
            fit += [TimedWord(word, time.start_s, time.end_s) for time, word in pairs]
        elif start < end:
            start_s = told[first].start_s if first < last else _end_before(told, first)
            end_s = told[last - 1].end_s if first < last else _start_behind(told, first)
            fit += _shared(words[start:end], start_s, max(start_s, end_s))
    return tuple(_in_order(fit))


def of_tokens(tokens: Sequence[str], starts_s: Sequence[float], end_s: float) -> list[TimedWord]:
    """Words of the pieces that a recogniser writes: a piece that begins with a space, or with `▁`,
    begins a word, and so does each sign of a script without spaces.

    Args:
        tokens: pieces of words.
        starts_s: when each was written.
        end_s: length of the audio.
    """
    words: list[TimedWord] = []
    for index, (token, start_s) in enumerate(zip(tokens, starts_s, strict=True)):
        following_s = starts_s[index + 1] if index + 1 < len(starts_s) else end_s
        ends_s = max(start_s, min(following_s, start_s + LONGEST_TOKEN_S))
        written = token.replace("▁", " ")
        text = written.strip()
        before = words[-1].text[-1:] if words else ""
        begins = written[:1].isspace() or _is_unspaced(text[:1]) or _is_unspaced(before)
        if words and (not begins or not text):
            last = words[-1]
            words[-1] = TimedWord(last.text + text, last.start_s, ends_s if text else last.end_s)
        elif text:
            words.append(TimedWord(text, start_s, ends_s))
    return words


def _shared(words: Sequence[str], start_s: float, end_s: float) -> tuple[TimedWord, ...]:
    weights = [len(word) + 1 for word in words]
    second = (end_s - start_s) / max(1, sum(weights))
    found: list[TimedWord] = []
    at_s = start_s
    for word, weight in zip(words, weights, strict=True):
        found.append(TimedWord(word, round(at_s, 3), round(at_s + weight * second, 3)))
        at_s += weight * second
    return tuple(found)


def _in_order(words: Sequence[TimedWord]) -> Iterator[TimedWord]:
    at_s = 0.0
    for word in words:
        if text := word.text.strip():
            at_s = max(at_s, word.start_s)
            yield TimedWord(text, at_s, max(at_s, word.end_s))


def _end_before(told: Sequence[TimedWord], index: int) -> float:
    return told[index - 1].end_s if index else told[0].start_s


def _start_behind(told: Sequence[TimedWord], index: int) -> float:
    return told[index].start_s if index < len(told) else told[-1].end_s


def _is_unspaced(sign: str) -> bool:
    return bool(sign) and re.match(f"[{_UNSPACED}]", sign) is not None


def _bare(word: str) -> str:
    """A word without case and punctuation, for comparison."""
    return "".join(sign for sign in word.casefold() if sign.isalnum()) or word


def _bare_text(text: str) -> str:
    return _SPACES.sub("", text)
