"""A conversation as the text a model was trained on, by the template that its file carries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NoReturn

from s2s.core.answering import ToolSchema
from s2s.llm.base import ChatMessage, LlmError
from s2s.llm.tools import declared, in_words, used

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""What a model without a template is shown: the commonest form."""


class ChatTemplate:
    """Renders conversations. `source` is a Jinja template, as tokenizers of the hub have it.

    Raises:
        LlmError: the template cannot be read.
    """

    def __init__(self, source: str, *, bos: str = "", eos: str = "") -> None:
        import jinja2
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        self.knows_tools = "tools" in source and "tool_calls" in source
        """Models with it were trained to call tools."""
        self._tokens = {"bos_token": bos, "eos_token": eos}
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
            keep_trailing_newline=True,
        )
        environment.filters["tojson"] = _to_json
        functions: dict[str, Any] = {"raise_exception": _refuse, "strftime_now": _now}
        environment.globals.update(functions)
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise LlmError(f"the chat template cannot be read: {error}") from error

    def render(
        self,
        messages: Sequence[ChatMessage],
        *,
        answer: bool = True,
        tools: Sequence[ToolSchema] = (),
    ) -> str:
        """The conversation as text; with `answer` the model's turn is opened at its end.

        A template that does not know tools is given them, and what they were called for and gave,
        in words.

        A model without a system role is told it at the beginning of the first user message.

        Raises:
            LlmError: the template refuses the conversation; in its own words.
        """
        if not self.knows_tools:
            messages, tools = in_words(messages, tools), ()
        try:
            return self._render(messages, answer, tools)
        except LlmError:
            folded = _without_system(messages)
            if len(folded) == len(messages):
                raise
            return self._render(folded, answer, tools)

    def _render(
        self, messages: Sequence[ChatMessage], answer: bool, tools: Sequence[ToolSchema]
    ) -> str:
        import jinja2

        try:
            return self._template.render(
                messages=[_shown(message) for message in messages],
                add_generation_prompt=answer,
                # Templates of models that think aloud leave it out when told so.
                enable_thinking=False,
                tools=declared(tools) or None,
                documents=None,
                **self._tokens,
            )
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            raise LlmError(f"the chat template refuses the conversation: {error}") from error


def _shown(message: ChatMessage) -> dict[str, object]:
    shown: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        shown["tool_calls"] = [used(use, parsed=True) for use in message.calls]
    if message.call_id:
        shown["tool_call_id"] = message.call_id
    return shown


def _without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The system message as the beginning of the first user message."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    if not system or not rest or rest[0].role != "user":
        return list(messages)
    first = ChatMessage("user", "\n\n".join([*system, rest[0].content]))
    return [first, *rest[1:]]


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _to_json(value: object, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)
