"""A GGUF model in this process, by llama.cpp: streaming, and stoppable at the next token.

llama.cpp keeps what it has evaluated and re-evaluates from the first token that differs, so a
conversation that only grows costs its new words alone, and `warm` can run ahead of the speaker.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import SystemClock
from s2s.core.setting import setting
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, LlmError, Urgency
from s2s.llm.llama_engine import ChatEngine, ChatRequest, LlamaEngine
from s2s.llm.tools import forcing_note
from s2s.models.resources import Resources
from s2s.system.llama_context import CardUse

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Options of the embedded language model."""

    model: str = setting(
        "smollm2-135m",
        "A GGUF file: a name in the model list such as `qwen3-1.7b`, a path, or "
        "`hf://owner/repo/file.gguf`. The default is small: fluent, and often wrong.",
    )
    engine: Literal["auto", "xllamacpp", "llama-cpp-python"] = setting(
        "auto",
        "Which binding of llama.cpp; `auto` takes xllamacpp, or the other where that is missing.",
    )
    context_tokens: int = setting(2048, "Tokens of conversation and answer together, at most.")
    max_tokens: int = setting(80, "Tokens of one answer, at most: about half a minute of speech.")
    temperature: float = setting(
        0.0,
        "0 always takes the likeliest token: what makes the most sense with a model this small.",
    )
    top_p: float = setting(
        0.9, "Choose among the likeliest tokens that together have this probability."
    )
    repeat_penalty: float = setting(
        1.0,
        "Above 1 makes tokens of the last 64, the question's too, less likely: fewer loops, "
        "but a small model then avoids the very words of the right answer.",
    )
    seed: int | None = setting(None, "Makes answers repeatable; None differs each time.")
    stop_at: tuple[str, ...] = setting((), "Texts that end the answer, and are not part of it.")
    chat_template: str | None = setting(
        None, "Jinja template of the conversation; None is the model's own."
    )
    gpu_layers: int = setting(
        -1, "Layers on a GPU where the engine was built for one; -1 as many as fit."
    )
    slots: int = setting(
        0,
        "Conversations whose beginning stays evaluated; each takes memory of its own for "
        "context_tokens. 0: one, and of a server as many as it holds, at most 4.",
    )
    timeout_s: float = setting(60.0, "Longest wait for a token before the answer counts as failed.")


class LlamaChat:
    """Answers with a GGUF model. Calls from several threads take turns."""

    def __init__(self, config: LlamaConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            LlmError: no engine is installed, or the file is no model it can load.
            ValueError: an option makes no sense.
        """
        _check(config)
        path = gguf_file(resources.store.path(config.model))
        self._config = config
        engine = LlamaEngine(
            config.engine,
            path,
            threads=resources.threads,
            compute=resources.compute,
            context_tokens=config.context_tokens,
            gpu_layers=config.gpu_layers,
            chat_template=config.chat_template,
            slots=max(1, config.slots),
        )
        self._engine: ChatEngine | None = engine
        self.where = where_computed(config.model, engine.card)
        """The graphics card that computes it, or why none does; "" without one."""

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        """Yield the answer piece by piece; see `s2s.llm.base.ChatModel`.

        The model runs in a thread of its own that ends with the iterator. `stop` is asked there.
        """
        answer = _Answer(self._open_engine(), self._request(messages, options), stop, work)
        return answer.pieces(self._config.timeout_s)

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """Evaluate `messages` ahead of time.

        A user message at the end may be unfinished: what is the same in the end is not evaluated
        again. Where there is none, the opening of one is evaluated too.
        """
        ahead = list(messages)
        if not ahead or ahead[-1].role != "user":
            ahead.append(ChatMessage("user", ""))
        self._open_engine().evaluate(self._request(ahead, options))

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        """Whether the user's words are complete; see `s2s.llm.base.ChatModel`."""
        return self._open_engine().ending(self._request(messages, options))

    @property
    def calls_tools(self) -> bool:
        """It was trained to call tools, by its template."""
        return self._open_engine().calls_tools

    def choose(
        self, prompt: str, options: Sequence[str], *, stop: Callable[[], bool] = lambda: False
    ) -> tuple[int, float] | None:
        """Which of `options` it would write; see `s2s.llm.calling.choosing.HeldToChoices`."""
        return self._open_engine().choose(prompt, options, stop)

    def log_probability(
        self, prompt: str, text: str, *, stop: Callable[[], bool] = lambda: False
    ) -> float | None:
        """How likely it writes `text`; see `s2s.llm.calling.choosing.HeldToChoices`."""
        return self._open_engine().log_probability(prompt, text, stop)

    @property
    def reads_ahead(self) -> bool:
        return True

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, exact."""
        return self._open_engine().count_tokens(text) if text else 0

    def close(self) -> None:
        """Free the model. Idempotent."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _open_engine(self) -> ChatEngine:
        if self._engine is None:
            raise LlmError("the language model was used after it was closed.")
        return self._engine

    def _request(self, messages: Sequence[ChatMessage], options: ChatOptions) -> ChatRequest:
        config = self._config
        most = config.max_tokens
        return ChatRequest(
            messages=(*messages, *forcing_note(options)),
            max_tokens=most if options.max_tokens is None else min(most, options.max_tokens),
            temperature=config.temperature,
            top_p=config.top_p,
            repeat_penalty=config.repeat_penalty,
            seed=config.seed,
            stop_at=config.stop_at,
            tools=options.tools,
        )


class _Answer:
    """One answer: the thread that writes it and the channel it is read from.

    The channel has room for the whole answer, so that the engine is free when it has written it,
    however slowly it is read.
    """

    def __init__(
        self, engine: ChatEngine, request: ChatRequest, stop: Callable[[], bool], work: Urgency
    ) -> None:
        self._engine = engine
        self._request = request
        self._stop = stop
        self._work = work
        self._clock = SystemClock()
        self._failure: Exception | None = None
        self._arrived: Channel[str] = Channel(
            request.max_tokens + 1, clock=self._clock, name="llama"
        )

    def pieces(self, timeout_s: float) -> Iterator[str]:
        """Start the thread and yield what it writes; ends or closes only when it has stopped.

        Raises:
            LlmError: the engine failed, or gave nothing for `timeout_s`.
        """
        thread = self._clock.start(self._write, "llama")
        try:
            while (piece := self._next(timeout_s)) is not None:
                if self._stop():
                    return
                yield piece
        finally:
            self._arrived.close(discard=True)
            thread.join(timeout_s)

    def _next(self, timeout_s: float) -> str | None:
        """The next piece; None at the end."""
        try:
            return self._arrived.get(deadline_s=self._clock.now() + timeout_s)
        except Timeout:
            raise LlmError(
                f"the language model gave no token for {timeout_s:g} s. The machine is too busy "
                "or the model too large for it: use fewer threads or a smaller model."
            ) from None
        except Closed:
            if self._failure is not None:
                raise self._failure from None
            return None

    def _write(self) -> None:
        try:
            self._engine.generate(self._request, self._take, self._work)
        except Exception as error:  # noqa: BLE001 - surfaces in the reader's thread
            self._failure = error
        finally:
            self._arrived.close()

    def _take(self, piece: str) -> bool:
        """Pass on a piece (empty while the prompt is evaluated); true ends the generation."""
        if self._arrived.closed or self._stop():
            return True
        if piece:
            try:
                self._arrived.put(piece)
            except Closed:
                return True
        return False


def where_computed(model: str, use: CardUse) -> str:
    """What the start line says of a graphics card; "" where there is none to speak of. A card that
    refuses is warned of."""
    if use.refused:
        log.warning("llama: %s is computed on the processor: %s", model, use.refused)
        return f"llama: {model} on the processor ({use.refused})"
    return f"llama: {model} on {use.card}" if use.card else ""


def gguf_file(path: Path) -> Path:
    """The GGUF file at `path`, or the only one in that folder.

    Raises:
        LlmError: there is none, or there are several.
    """
    if path.is_file():
        return path
    found = sorted(path.glob("*.gguf"))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise LlmError(f"{path}: one GGUF file is needed, found {names}. Name the file itself.")
    return found[0]


def _check(config: LlamaConfig) -> None:
    """
    Raises:
        ValueError: names the option, its value and the bound.
    """
    bounds = (
        ("context_tokens", config.context_tokens, 128),
        ("max_tokens", config.max_tokens, 1),
        ("slots", config.slots, 0),
        ("temperature", config.temperature, 0.0),
        ("top_p", config.top_p, 0.0),
        ("repeat_penalty", config.repeat_penalty, 0.1),
    )
    for name, value, least in bounds:
        if value < least:
            raise ValueError(f"llama: {name} must be at least {least}, got {value}")
    if config.max_tokens >= config.context_tokens:
        raise ValueError(
            f"llama: max_tokens ({config.max_tokens}) must be below "
            f"context_tokens ({config.context_tokens})"
        )
