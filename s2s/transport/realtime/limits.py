"""How much of everything one client may put into one session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What is beyond them is answered with one `error`."""

    append_bytes: int = 15 << 20
    """Of audio in one message, before base64."""
    items: int = 4096
    """In the conversation."""
    text_chars: int = 256 * 1024
    """Of any one text: instructions, an item, the output of a tool."""
    tools: int = 256
    """In a session or response."""
    manual_audio_s: float = 600.0
    """That may be appended before it is committed."""
