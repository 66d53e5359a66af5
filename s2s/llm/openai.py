"""Any server that speaks OpenAI's `/chat/completions` with streaming: llama-server, Ollama, vLLM,
LM Studio, OpenAI.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from s2s.core.setting import setting
from s2s.core.work import Work
from s2s.llm.base import ChatMessage, LlmError, Urgency, estimate_tokens
from s2s.models.resources import Resources
from s2s.system.remote import Deadline, Endpoint, Remote, RemoteError, Request, lines, stalled


@dataclass(frozen=True, slots=True)
class OpenAiChatConfig:
    """Options of a language model on a server."""

    base_url: str = setting(
        "http://127.0.0.1:8080/v1",
        "Address of the API, up to and with its version; llama-server's by default.",
    )
    model: str = setting("default", "Name of the model on the server.")
    api_key_env: str | None = setting(
        None,
        "Environment variable with the key; none: OPENAI_API_KEY for api.openai.com, else no key.",
    )
    max_tokens: int = setting(200, "Tokens of one answer, at most.")
    temperature: float | None = setting(None, "None leaves it to the server, here and below.")
    top_p: float | None = setting(
        None, "Choose among the likeliest tokens that together have this probability."
    )
    seed: int | None = setting(None, "Makes answers repeatable where the server can.")
    connect_timeout_s: float = setting(5.0, "Longest wait for a connection.")
    first_token_timeout_s: float = setting(
        20.0, "Longest wait between the question and the first token."
    )
    gap_timeout_s: float = setting(10.0, "Longest wait between two tokens.")
    total_timeout_s: float = setting(120.0, "Longest time for one answer.")


class OpenAiChat:
    """Answers by asking a server. Calls may come from several threads."""

    def __init__(self, config: OpenAiChatConfig, resources: Resources) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            LlmError: the address is none, or the key's variable is not set.
        """
        del resources
        self._config = config
        try:
            self._remote = Remote(
                Endpoint(
                    config.base_url,
                    config.api_key_env,
                    config.connect_timeout_s,
                    config.first_token_timeout_s,
                    config.gap_timeout_s,
                )
            )
        except RemoteError as error:
            raise LlmError(str(error)) from error

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
    ) -> Iterator[str]:
        """Yield the answer piece by piece; see `s2s.llm.base.ChatModel`.

        `stop` is asked every 50 ms, also while the server is silent. Stopping closes the
        connection, which ends the work there.
        """
        return self._ask(messages, self._config.max_tokens, stop)

    def warm(self, messages: Sequence[ChatMessage]) -> None:
        """Ask for one token, so that the server loads the model and evaluates `messages`."""
        ahead = list(messages)
        if not ahead or ahead[-1].role != "user":
            ahead.append(ChatMessage("user", "Hello."))
        for _ in self._ask(ahead, 1, lambda: False):
            pass

    @property
    def reads_ahead(self) -> bool:
        """Each request would be paid for, and few servers keep what they evaluated."""
        return False

    def count_tokens(self, text: str) -> int:
        """An estimate: the server's tokenizer is not known here."""
        return estimate_tokens(text)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._remote.close()

    def _ask(
        self, messages: Sequence[ChatMessage], max_tokens: int, stop: Callable[[], bool]
    ) -> Iterator[str]:
        config = self._config
        first = Deadline(config.first_token_timeout_s)
        total = Deadline(config.total_timeout_s)
        answered = False

        def watched(chunks: Iterator[bytes]) -> Iterator[bytes]:
            # Servers send signs of life that are no tokens: they do not count.
            for chunk in chunks:
                late = total if total.passed else first if first.passed and not answered else None
                if late is not None:
                    raise stalled(config.base_url, late.wait_s)
                yield chunk

        chunks = self._remote.stream(
            Request("/chat/completions", json=self._body(messages, max_tokens)), stop
        )
        try:
            for text in deltas(lines(watched(chunks)), stop):
                answered = True
                yield text
        finally:
            chunks.close()

    def _body(self, messages: Sequence[ChatMessage], max_tokens: int) -> dict[str, object]:
        config = self._config
        body: dict[str, object] = {
            "model": config.model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": max_tokens,
            "stream": True,
        }
        optional = {"temperature": config.temperature, "top_p": config.top_p, "seed": config.seed}
        return body | {key: value for key, value in optional.items() if value is not None}


def deltas(events: Iterator[str], stop: Callable[[], bool]) -> Iterator[str]:
    """Yield the text in the lines of a streamed chat completion, up to `[DONE]`.

    Raises:
        LlmError: the stream breaks, reports an error, is no JSON, or ends, without `stop`,
            before `[DONE]` or a finish reason.
    """
    finished = False
    try:
        for line in events:
            field, _, data = line.partition(":")
            data = data.strip()
            if field != "data" or not data:
                continue
            if data == "[DONE]":
                finished = True
                continue  # to the end of the stream: then the connection can be used again
            for choice in _event(data).get("choices") or ():
                finished = finished or choice.get("finish_reason") is not None
                if stop():
                    return
                if text := (choice.get("delta") or {}).get("content"):
                    yield text
    except RemoteError as error:
        if not finished:
            raise LlmError(str(error)) from error
    if not finished and not stop():
        raise LlmError(
            "the server ended its answer in the middle. Look at its log; it may have run out of "
            "memory."
        )


def _event(data: str) -> dict:
    """One event of the stream.

    Raises:
        LlmError: it reports an error, or is no JSON object.
    """
    try:
        event = json.loads(data)
    except ValueError as error:
        raise LlmError(f"the server sent {data[:80]!r} where JSON was due.") from error
    if not isinstance(event, dict):
        raise LlmError(f"the server sent {data[:80]!r} where an object was due.")
    if failure := event.get("error"):
        message = failure.get("message", failure) if isinstance(failure, dict) else failure
        raise LlmError(f"the server failed: {message}")
    return event
