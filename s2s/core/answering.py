"""How a response is made, as whoever asks for it wants it. Knows no stage and no wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from s2s.core.items import Item

ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool that the model may want called; nothing is called here."""

    name: str
    description: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    """A JSON schema of its arguments."""


@dataclass(frozen=True, slots=True)
class Answering:
    """How responses are made."""

    instructions: str
    """In place of the system prompt."""
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: ToolChoice = "auto"
    forced_tool: str | None = None
    """The one tool that must be called; with `tool_choice` "required"."""
    max_output_tokens: int | None = None
    """None: the model's own bound."""
    spoken: bool = True
    """False: text alone, no sound is made."""
    voice: str | None = None
    """None: the configured one. Which there are is in the synthesizer's capabilities."""
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A response that a client asks for."""

    key: str
    """Its name; `ResponseId.response_key` of all that is told of it. Never used before."""
    answering: Answering
    given: tuple[Item, ...] | None = None
    """What it answers; None: the conversation."""
    in_conversation: bool = True
    """False: out of band. It enters no history, runs beside the conversation's response, and speech
    does not interrupt it."""
