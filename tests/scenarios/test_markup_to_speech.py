"""What a model writes, cut into pieces as it streams, as it is then spoken."""

from __future__ import annotations

import pytest

from s2s.core.markup import MarkupFilter, Visible
from s2s.llm.sentences import SentenceStream
from s2s.tts.text import speakable

SPOKEN = {
    "S10": (
        "<think>The person wants the capital. It is Paris, I believe. Let me answer briefly."
        "</think>The capital of France is Paris.",
        "The capital of France is Paris.",
    ),
    "S12": (
        "<thinking>\nFirst step: look.\n\nSecond step: count. There are three.\n</thinking>\n"
        "There are three apples.",
        "There are three apples.",
    ),
    "S13": (
        "Here is the little program:\n~~~\nprint(1). Really\n\nprint(2). Truly\n~~~\n"
        "That is all there is.",
        "Here is the little program: That is all there is.",
    ),
    "backtick fence": (
        "Here is the little program:\n```\nprint(1). Really\n\nprint(2). Truly\n```\n"
        "That is all there is.",
        "Here is the little program: That is all there is.",
    ),
    "S15": (
        'I will switch it on. <tool_call>\n{"name": "lamp_on", "arguments": {"room": "hall. west"}}'
        "\n</tool_call> It is on.",
        "I will switch it on. It is on.",
    ),
    "S18": (
        "So this is the whole rule: $$a = b + c. \\quad d = 2$$ That is it.",
        "So this is the whole rule: a equals b plus c. d equals two That is it.",
    ),
    "T32": ("All done.<|im_end|>", "All done."),
    "T34": (
        "<|channel|>analysis<|message|>They want the time.<|end|><|start|>assistant<|channel|>final"
        "<|message|>It is noon.",
        "It is noon.",
    ),
    "T35": ('<tool_call>{"name": "lamp_on", "arguments": {"room": "hall"}}</tool_call>', ""),
    "comment": (
        "Well, here we are. <!-- a note. Not for you. -->Go on now.",
        "Well, here we are. Go on now.",
    ),
    "E01": ("<think>It is Paris, I believe.\n\nLet me see. Yes.</think>Paris.", "Paris."),
}


def pieces(text: str, size: int) -> list[str]:
    """The visible text of an answer that streams in parts of `size`, cut for the voice."""
    markup, sentences = MarkupFilter(), SentenceStream()
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    items = [*(item for part in parts for item in markup.push(part)), *markup.flush()]
    cut = [
        piece for item in items if isinstance(item, Visible) for piece in sentences.push(item.text)
    ]
    return [piece.text for piece in (*cut, *sentences.flush())]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 10_000])
@pytest.mark.parametrize("case", SPOKEN)
def test_a_streamed_answer_is_spoken_without_markup(case: str, size: int) -> None:
    written, spoken = SPOKEN[case]
    said = [speakable(piece, "en").text for piece in pieces(written, size)]
    assert " ".join(part for part in said if part) == spoken


@pytest.mark.parametrize("case", SPOKEN)
def test_a_whole_text_is_spoken_without_markup(case: str) -> None:
    """As `say` reads it: what is removed leaves no sign, whoever removes it."""
    written, spoken = SPOKEN[case]
    said = speakable(written, "en").text
    assert bool(said) == bool(spoken)
    assert not set("<>|{}[]$~`") & set(said)
    assert "think" not in said.lower()


def test_a_fullwidth_comma_between_digits_ends_no_clause() -> None:
    """S06."""
    assert pieces("これは長い導入文ですが１，０００円です。はい。", 3) == [
        "これは長い導入文ですが１，０００円です。",
        "はい。",
    ]


@pytest.mark.parametrize(
    "held",
    [
        "```\na = 1. B\n\nc\n```", "~~~\na = 1. B\n\nc\n~~~",
        "````\n```\na. B\n```\nc. D\n````",
        "$$a = 1. \\quad b, c$$", "\\[ a = 1. \\quad b \\]", "\\( a, b. C \\)", "$x = 1. Y$",
        "`a. B`",
        "[a. B](http://c. D)",
    ],
)  # fmt: skip
def test_what_belongs_together_is_in_one_piece(held: str) -> None:
    cut = pieces(f"This is the whole of it:\n{held}\nThat was it. Or not.", 1)
    assert [held in piece for piece in cut].count(True) == 1
