"""What language models write around and between their words: signs of chat templates, thinking,
comments, calls of tools, code. One streaming filter takes it out; `visible_text` does the same to
a whole text.
"""

from s2s.core.markup.calls import Call, WrittenCall, read_calls
from s2s.core.markup.filter import MarkupFilter
from s2s.core.markup.output import Item, Visible, Withdrawn
from s2s.core.markup.signs import opened_thought
from s2s.core.markup.spans import Spans
from s2s.core.markup.whole import hidden_edits, visible_spans, visible_text

__all__ = [
    "Call",
    "Item",
    "MarkupFilter",
    "Spans",
    "Visible",
    "Withdrawn",
    "WrittenCall",
    "hidden_edits",
    "opened_thought",
    "read_calls",
    "visible_spans",
    "visible_text",
]
