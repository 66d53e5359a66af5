"""The filter on a text that is there as a whole."""

from __future__ import annotations

from s2s.core.markup.calls import WrittenCall
from s2s.core.markup.filter import MarkupFilter
from s2s.core.markup.output import Visible, Withdrawn


def visible_spans(text: str, *, start: bool = True) -> list[Visible]:
    """What of a whole text is for the person.

    Args:
        start: it is the start of an answer, where a role's name alone and bare JSON count too.
    """
    filter = MarkupFilter(start=start)
    kept: list[Visible] = []
    for item in (*filter.push(text), *filter.flush()):
        match item:
            case Visible():
                kept.append(item)
            case Withdrawn():
                kept.clear()
            case WrittenCall():
                pass
    return kept


def visible_text(text: str) -> str:
    """`text` without control tokens, thinking, comments and calls of tools."""
    return "".join(each.text for each in visible_spans(text))


def hidden_edits(text: str, *, start: bool = True) -> list[tuple[int, int, str]]:
    """What to replace in `text`, as (start, end, with what), so that `visible_text` is left.

    Args:
        start: as for `visible_spans`.
    """
    edits: list[tuple[int, int, str]] = []
    end = 0
    for each in visible_spans(text, start=start):
        if each.at > end or each.spaced:
            edits.append((end, each.at, " " if each.spaced else ""))
        end = each.at + len(each.text) - each.spaced
    if end < len(text):
        edits.append((end, len(text), ""))
    return edits
