"""The sentence that cores are compared on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.text.example import request_of

Tiny = Callable[[str], Path]


@pytest.mark.parametrize("kind", ["0.6b-base", "0.6b-customvoice", "1.7b-voicedesign"])
def test_any_kind_of_model_can_speak_the_sentence(kind: str, tiny_qwen3: Tiny) -> None:
    request = request_of(read_spec(tiny_qwen3(kind)))
    given = (request.reference, request.speaker, request.instruction)
    assert sum(each is not None for each in given) == 1
