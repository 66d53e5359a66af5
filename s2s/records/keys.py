"""What a model was asked, as a short key: the same question has the same key in every run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from s2s.core.audio import Block
from s2s.llm.base import ChatMessage

_DIGITS = 20


def of_sound(audio: Block, *more: str | None) -> str:
    """float32 [samples] and what else the answer depends on."""
    digest = hashlib.sha256(audio.tobytes())
    digest.update(json.dumps(more).encode())
    return digest.hexdigest()[:_DIGITS]


def of_text(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]


def of_messages(messages: Sequence[ChatMessage]) -> str:
    return of_text(json.dumps([asdict(each) for each in messages], ensure_ascii=False))


def last_said(messages: Sequence[ChatMessage]) -> str:
    """What the person said last, as the language model is given it; "" where there is nothing."""
    return next((each.content for each in reversed(messages) if each.role == "user"), "")
