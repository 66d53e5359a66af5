"""The stop phrase: words that end the answer at once, whoever says them, and ask for nothing else.

Said over an answer, the rules of interruption act on them before anything else (`interruption`).
This is for all other times: a turn that is only a stop phrase is no turn
(docs/decisions/stop-phrase.md). The phrases of each language are in `backchannels`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from s2s.turns.backchannels import classify

WAIT_MS = 700
"""More may follow a stop phrase for so long: "Stop. The music, please." is answered."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def only_stops(text: str, before: str, language: str | None, further: Iterable[str] = ()) -> bool:
    """Whether all that was said last is a stop phrase.

    Args:
        text: the words of the whole turn.
        before: its words when it had paused before: what is new since then counts. "" for none.
        language: ISO 639-1 code, None for any.
        further: stop phrases of this deployment.
    """
    words = list(_WORD.finditer(text))
    known = len(_WORD.findall(before))
    if not known or known >= len(words):
        return classify(text, language, stops=further) == "stop"
    return classify(text[words[known].start() :], language, stops=further) == "stop"
