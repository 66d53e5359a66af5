"""What is said to a client's session in its tests, and what its model was shown."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.core.control import (
    Hearing,
    SemanticVad,
)
from s2s.core.items import (
    MessageItem,
    TextPart,
)
from s2s.llm.base import ChatMessage
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.simulator import Said, tone

QUESTION = Said(tone(1.5), "what time is it now")
SECOND = Said(tone(1.8, 200), "and what about tomorrow then")
NOD = Said(tone(0.3, 240), "mm-hmm")
LONG = " ".join(f"Sentence number {n} of a long answer is this." for n in range(8))
SEMANTIC = Hearing(SemanticVad())
BY_HAND = Hearing(None)


def user(item_id: str, text: str) -> MessageItem:
    return MessageItem(item_id, "user", (TextPart(text),))


def texts(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]


def prompt(client: ClientSimulation) -> list[tuple[str, str]]:
    """What the model was shown last."""
    return texts(client.chat.prompts[-1])
