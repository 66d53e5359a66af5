"""Conversations as the text that a model was trained on."""

from __future__ import annotations

import pytest

from s2s.llm.base import ChatMessage, LlmError
from s2s.llm.chat_template import CHATML, ChatTemplate

SYSTEM, ASKED = ChatMessage("system", "Be short."), ChatMessage("user", "Hi?")
ANSWERED = ChatMessage("assistant", "Hello.")


def test_the_common_form() -> None:
    text = ChatTemplate(CHATML).render([SYSTEM, ASKED, ANSWERED, ASKED])
    assert text == (
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHi?<|im_end|>\n"
        "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nHi?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert not ChatTemplate(CHATML).render([ASKED], answer=False).endswith("assistant\n")


def test_what_templates_of_the_hub_use() -> None:
    source = (
        "{{ bos_token }}{% for m in messages %}\n"
        "  {%- if loop.first %}{% continue %}{% endif %}\n"
        "{{ m['content'] | tojson }}{{ eos_token }}"
        "{% endfor %}{{ strftime_now('') }}{% if enable_thinking %}think{% endif %}"
    )
    assert ChatTemplate(source, bos="<s>", eos="</s>").render([SYSTEM, ASKED]) == '<s>"Hi?"</s>'


REFUSES = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}{{ m.role }}: {{ m.content }};{% endfor %}"
)


def test_a_model_without_a_system_role_is_told_in_the_first_question() -> None:
    text = ChatTemplate(REFUSES).render([SYSTEM, ASKED, ANSWERED, ASKED])
    assert text == "user: Be short.\n\nHi?;assistant: Hello.;user: Hi?;"


def test_what_a_template_refuses_is_said_in_its_words() -> None:
    with pytest.raises(LlmError, match="System role not supported"):
        ChatTemplate(REFUSES).render([SYSTEM])


@pytest.mark.parametrize("source", ["{% if %}", "{{ messages | nothing }}"])
def test_a_broken_template_says_so(source: str) -> None:
    with pytest.raises(LlmError, match="template"):
        ChatTemplate(source).render([ASKED])


def test_a_template_reaches_nothing_outside() -> None:
    with pytest.raises(LlmError, match="template"):
        ChatTemplate("{{ messages.__class__.__mro__[1].__subclasses__() }}").render([ASKED])
