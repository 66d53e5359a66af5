"""Requests a model cannot speak, and what a prompt says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import PromptError
from s2s.tts.qwen3.reference import ReferenceEmbeddings
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request, spoken_languages
from s2s.tts.qwen3.text.tokenizer import Tokenizer

Tiny = Callable[[str], Path]
BASE_WIDTH = 256


def builder_of(folder: Path) -> PromptBuilder:
    spec = read_spec(folder)
    embeddings = ReferenceEmbeddings(spec, open_checkpoint(folder, spec))
    return PromptBuilder(spec, Tokenizer.load(folder), embeddings)


def voice(frames: int = 0, text: str = "", width: int = BASE_WIDTH) -> Reference:
    codes = np.zeros((frames, 16), np.int64) if frames else None
    return Reference(np.ones(width, np.float32), codes, text)


@pytest.mark.parametrize(
    ("kind", "request_", "message"),
    [
        ("0.6b-base", Request("Hi"), "give it a reference"),
        ("0.6b-base", Request("Hi", speaker="ryan", reference=voice()), "no trained speakers"),
        ("0.6b-base", Request("Hi", reference=voice(width=99)), "99 values.*enrol it again"),
        ("0.6b-base", Request("Hi", reference=voice(5, "  ")), "transcript"),
        ("0.6b-base", Request("Hi", reference=voice(), language="klingon"), "known: auto, chinese"),
        ("0.6b-customvoice", Request("Hi"), "unknown speaker None; known: aiden"),
        ("0.6b-customvoice", Request("Hi", speaker="bob"), "unknown speaker 'bob'"),
        ("0.6b-customvoice", Request("Hi", speaker="ryan", reference=voice()), "cannot clone"),
        ("0.6b-customvoice", Request("", speaker="ryan"), "nothing to say"),
        ("1.7b-voicedesign", Request("Hi", speaker="ryan"), "a description"),
        ("1.7b-voicedesign", Request("Hi", language="beijing_dialect"), "unknown language"),
    ],
)
def test_a_request_the_model_cannot_speak_is_an_error(
    kind: str, request_: Request, message: str, tiny_qwen3: Tiny
) -> None:
    with pytest.raises(PromptError, match=message):
        builder_of(tiny_qwen3(kind)).build(request_)


def test_codes_of_another_model_are_refused(tiny_qwen3: Tiny) -> None:
    wrong = replace(voice(5, "x"), codes=np.zeros((5, 8), np.int64))
    with pytest.raises(PromptError, match=r"not \[n, 16\]"):
        builder_of(tiny_qwen3("0.6b-base")).build(Request("Hi", reference=wrong))


def test_ten_languages_can_be_asked_for_and_dialects_cannot(tiny_qwen3: Tiny) -> None:
    names = spoken_languages(read_spec(tiny_qwen3("0.6b-customvoice")))
    assert len(names) == 11
    assert names[0] == "auto"
    assert not any("dialect" in name for name in names)


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("reference", [voice(), voice(40, "Guten Tag."), voice(3, "Guten Tag.")])
def test_the_prefix_is_all_that_does_not_depend_on_the_text(
    streaming: bool, reference: Reference, tiny_qwen3: Tiny
) -> None:
    builder = builder_of(tiny_qwen3("0.6b-base"))
    request = Request("Hello.", reference=reference, streaming=streaming, language="german")
    one = builder.build(request)
    other = builder.build(replace(request, text="Something else, and longer."))
    assert one.prefix == other.prefix
    assert np.array_equal(one.embeddings[: one.prefix], other.embeddings[: one.prefix])
    assert one.prefix < len(one.embeddings)
    rest, other_rest = one.embeddings[one.prefix :], other.embeddings[one.prefix :]
    if len(rest) > 1:
        assert not np.array_equal(rest[0], other_rest[0])


def test_pads_follow_the_text_for_ever(tiny_qwen3: Tiny) -> None:
    builder = builder_of(tiny_qwen3("0.6b-customvoice"))
    prompt = builder.build(Request("Hello there.", speaker="ryan", streaming=True))
    assert len(prompt.trailing) == prompt.text_tokens
    assert prompt.text_vector(len(prompt.trailing)).tolist() == prompt.pad.tolist()
    assert prompt.text_vector(10_000).tolist() == prompt.pad.tolist()
    assert prompt.text_vector(0).tolist() == prompt.trailing[0].tolist()
