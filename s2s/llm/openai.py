"""Any server that speaks OpenAI's `/chat/completions`: llama-server, Ollama, vLLM, LM Studio,
OpenAI.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from s2s.core.clock import SystemClock
from s2s.core.markup import Call
from s2s.core.setting import setting
from s2s.core.untyped import is_list, is_object
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError, Urgency, estimate_tokens
from s2s.llm.chat_stream import ChatStream
from s2s.llm.tools import declared, used
from s2s.models.resources import Resources
from s2s.system.remote import Remote, RemoteError, Reply, ServerConfig, Waits, stalled

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

log = logging.getLogger(__name__)

AUTO = "auto"
"""The first model that the server has."""
TRIES = 5
"""A request is changed, as the server's refusal asks, and sent again at most this often."""

_REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|"
    r"extra (?:input|field)|instead|deprecated|only the default",
    re.I,
)
_NO_SYSTEM = re.compile(
    r"system\W{0,3}(?:role|message|prompt|instruction)|roles? must alternate|"
    r"role\W{1,4}system|only user and assistant roles",
    re.I,
)


@dataclass(frozen=True, slots=True)
class OpenAiChatConfig(ServerConfig):
    """Options of a language model on a server."""

    max_tokens: int | None = setting(200, "Tokens of one answer, at most; none sends no limit.")
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = setting(
        "auto", "What the server calls that limit; auto changes over when it says so."
    )
    temperature: float | None = setting(None, "None leaves it to the server, here and below.")
    top_p: float | None = setting(
        None, "Choose among the likeliest tokens that together have this probability."
    )
    seed: int | None = setting(None, "Makes answers repeatable where the server can.")
    first_token_timeout_s: float = setting(
        20.0, "Longest wait between the question and the first token."
    )
    gap_timeout_s: float = setting(10.0, "Longest wait between two tokens.")
    total_timeout_s: float = setting(120.0, "Longest time for one answer.")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question."""

    messages: Sequence[ChatMessage]
    max_tokens: int | None
    tools: Mapping[str, object]
    """The fields of a request that are about tools."""


class OpenAiChat:
    """Answers by asking a server. Calls may come from several threads."""

    def __init__(self, config: OpenAiChatConfig, resources: Resources) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            LlmError: the address is none, or the key's variable is not set.
        """
        del resources
        self._config = config
        field = config.max_tokens_field
        self._limit_field = "max_tokens" if field == "auto" else field
        self._refused: frozenset[str] = frozenset()
        """Fields that the server does not take."""
        self._model = None if config.model == AUTO else config.model
        """None until the server was asked what it has."""
        self._no_system = False
        """The server's model takes no system message: it goes with the person's first."""
        try:
            self._remote = Remote(config)
        except RemoteError as error:
            raise LlmError(str(error)) from error

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        """Yield the answer piece by piece; see `s2s.llm.base.ChatModel`.

        Stopping closes the connection at once, also while the server is silent, which ends the
        work there.
        """
        config = self._config
        try:
            most = [n for n in (config.max_tokens, options.max_tokens) if n is not None]
            asked = _Asked(messages, min(most, default=None), _tool_fields(options))
            yield from self._ask(asked, config.first_token_timeout_s, stop)
        except RemoteError as error:
            raise LlmError(str(error)) from error

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """Ask for one token, so that the server loads the model and evaluates `messages`.

        A server that cannot yet is told of: the questions come later.

        Raises:
            LlmError: the address or the key is wrong.
        """
        ahead = list(messages)
        if not ahead or ahead[-1].role != "user":
            ahead.append(ChatMessage("user", "Hello."))
        try:
            asked = _Asked(ahead, 1, _tool_fields(options))
            for _ in self._ask(asked, self._config.loading_timeout_s, lambda: False):
                pass
        except (RemoteError, LlmError) as error:
            if isinstance(error, RemoteError) and error.final:
                raise LlmError(str(error)) from error
            log.warning("The language model could not be warmed up: %s", error)

    @property
    def reads_ahead(self) -> bool:
        """Each request would be paid for, and few servers keep what they evaluated."""
        return False

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        """None: few servers tell probabilities, and each would be a request of its own."""
        return None

    def count_tokens(self, text: str) -> int:
        """An estimate: the server's tokenizer is not known here."""
        return estimate_tokens(text)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._remote.close()

    # --- one question -----------------------------------------------------------------------------

    def _ask(self, asked: _Asked, busy_s: float, stop: Callable[[], bool]) -> Iterator[str | Call]:
        for left in reversed(range(TRIES)):
            options = self._options(asked)
            with self._send(asked.messages, options, busy_s, stop) as reply:
                try:
                    _ = reply.content_type
                except RemoteError as error:
                    if left and self._adapt(error, options, asked.messages):
                        continue
                    raise
                yield from self._read(reply, stop)
                return

    def _send(
        self,
        messages: Sequence[ChatMessage],
        options: Mapping[str, object],
        busy_s: float,
        stop: Callable[[], bool],
    ) -> Reply:
        config = self._config
        waits = Waits(
            config.first_token_timeout_s, config.gap_timeout_s, config.total_timeout_s, busy_s
        )
        model = self._model or self._first_model(waits, stop)
        written = [_written(message) for message in self._taken(messages)]
        sent = cast("list[ChatCompletionMessageParam]", written)
        return self._remote.ask(
            lambda client, headers: client.chat.completions.with_streaming_response.create(
                model=model,
                messages=sent,
                stream=True,
                extra_body=options,
                extra_headers=headers,
            ),
            waits,
            stop,
        )

    def _first_model(self, waits: Waits, stop: Callable[[], bool]) -> str:
        """The first model that the server has; asked once.

        Raises:
            RemoteError: the server cannot be asked.
            LlmError: it has none.
        """
        with self._remote.ask(
            lambda client, headers: client.models.with_streaming_response.list(
                extra_headers=headers
            ),
            waits,
            stop,
        ) as reply:
            names = listed_models(reply.read())
        if not names and not stop():
            raise LlmError(
                f"{self._remote.url} lists no model. Load one there, or name one: --llm.model NAME"
            )
        self._model = names[0] if names else None
        return self._model or AUTO  # given up meanwhile

    def _options(self, asked: _Asked) -> dict[str, object]:
        """The fields of a request that may be missing."""
        config = self._config
        ours: dict[str, object] = {
            self._limit_field: asked.max_tokens,
            "temperature": config.temperature,
            "top_p": config.top_p,
            "seed": config.seed,
        }
        ours = {key: value for key, value in ours.items() if key not in self._refused}
        return {
            key: value
            for key, value in (ours | dict(config.extra_body) | dict(asked.tools)).items()
            if value is not None
        }

    def _taken(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages as the server's model takes them; an empty system message is none."""
        taken = [m for m in messages if m.role != "system" or m.content.strip()]
        if not self._no_system or not taken or taken[0].role != "system":
            return taken
        system, *rest = taken
        if not rest or rest[0].role != "user":
            return [ChatMessage("user", system.content), *rest]
        return [ChatMessage("user", f"{system.content}\n\n{rest[0].content}"), *rest[1:]]

    def _adapt(
        self, error: RemoteError, options: Mapping[str, object], messages: Sequence[ChatMessage]
    ) -> bool:
        """Change later requests as a refusal asks; False when it asks for nothing that can be."""
        if error.status not in (400, 404, 422, 500):
            return False
        words, limit = error.words, self._limit_field
        if _REFUSES.search(words):
            other = "max_tokens" if limit == "max_completion_tokens" else "max_completion_tokens"
            for name in options:
                if re.search(rf"\b{re.escape(name)}\b", words) is None:
                    continue
                if name == limit and self._config.max_tokens_field == "auto" and other in words:
                    self._limit_field = other
                elif name in ("temperature", "top_p", "seed", limit) and name not in self._refused:
                    self._refused |= {name}
                else:
                    continue
                log.warning("%s The request goes on without %s.", error, name)
                return True
        system = any(m.role == "system" and m.content.strip() for m in messages)
        if system and not self._no_system and _NO_SYSTEM.search(words):
            log.warning("%s The system prompt goes with the first question instead.", error)
            self._no_system = True
            return True
        return False

    def _read(self, reply: Reply, stop: Callable[[], bool]) -> Iterator[str | Call]:
        """The text and calls of an answer.

        Raises:
            RemoteError: it stalled or broke off.
            LlmError: the server reports an error, or what it sent is no answer.
        """
        clock, longest_s = SystemClock(), self._config.first_token_timeout_s
        stream = ChatStream(self._remote.url)
        try:
            for data in reply:
                # Servers send signs of life that are no tokens: they do not count.
                if not stream.begun and clock.now() > reply.tried_s + longest_s:
                    raise stalled(self._remote.url, longest_s)
                for part in stream.push(data):
                    if stop():
                        return
                    yield part
        except RemoteError:
            if not stream.finished:
                raise
        if not stop():
            yield from stream.finish()


def listed_models(body: bytes) -> list[str] | None:
    """Names in the answer of `/models`; None when it is another answer."""
    try:
        document: object = json.loads(body)
    except ValueError:
        return None
    listed = document.get("data") if is_object(document) else None
    if not is_list(listed):
        return None
    return [str(each["id"]) for each in listed if is_object(each) and each.get("id")]


def _tool_fields(options: ChatOptions) -> dict[str, object]:
    if not options.tools:
        return {}
    choice: object = options.tool_choice
    if options.forced_tool is not None:
        choice = {"type": "function", "function": {"name": options.forced_tool}}
    return {"tools": declared(options.tools), "tool_choice": choice}


def _written(message: ChatMessage) -> dict[str, object]:
    written: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        written["tool_calls"] = [used(use, parsed=False) for use in message.calls]
    if message.call_id:
        written["tool_call_id"] = message.call_id
    return written
