"""One rule that rewrites text, alone: what comes before and after it in a language does not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from s2s.tts.text.tracked import Tracked

Rest = ParamSpec("Rest")


def rewritten(
    rule: Callable[Concatenate[Tracked, Rest], None],
    text: str,
    *arguments: Rest.args,
    **named: Rest.kwargs,
) -> str:
    """What `rule` makes of `text`."""
    tracked = Tracked(text)
    rule(tracked, *arguments, **named)
    return tracked.text
