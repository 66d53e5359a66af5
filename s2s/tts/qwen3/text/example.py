"""One sentence in a way that any kind of model can speak: what cores are compared on."""

from __future__ import annotations

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import Kind, Spec
from s2s.tts.qwen3.text.prompt import Reference, Request

TEXT = "The quick brown fox jumps over the lazy dog, and then we'll see."


def request_of(spec: Spec) -> Request:
    """The request, always the same for a model."""
    match spec.kind:
        case Kind.BASE:
            speaker = np.linspace(-1, 1, spec.talker.hidden, dtype=np.float32)
            return Request(TEXT, reference=Reference(speaker))
        case Kind.CUSTOM_VOICE:
            return Request(TEXT, speaker=next(iter(spec.speakers)))
        case Kind.VOICE_DESIGN:
            return Request(TEXT, instruction="A calm voice.")
