"""A chat model on llama.cpp's C API: which tokens it is shown, which it writes. Knows no threads
of ours, no queues and no turns.

The library is the one inside the `xllamacpp` wheel, or the one that `llama-cpp-python` compiled.
Everything is decided here, token by token: how many threads compute the next one, whether to go
on, what is kept of the last conversation.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from s2s.core.answering import ToolSchema
from s2s.core.markup import opened_thought
from s2s.core.work import Compute, Work
from s2s.llm.base import ChatMessage, LlmError, Urgency
from s2s.llm.calling.constrained import ConstrainedChoice
from s2s.llm.chat_template import CHATML, ChatTemplate
from s2s.llm.generated_text import GeneratedText
from s2s.llm.llama_slot import LlamaSlot, LlamaSlots, Take
from s2s.llm.text_end import ending_log_odds, ends_words, without_last_mark
from s2s.llm.token_sampling import Logits, TokenSampling
from s2s.system.fair_lock import FairLock
from s2s.system.llama_context import LlamaContext, LlamaModel, on_card
from s2s.system.llama_cpp import Library, LlamaCppError, installed, library

BATCH_TOKENS = 64
"""Prompt tokens between two questions whether to go on: about 0.3 s on two cores."""
PACKAGES = {"xllamacpp": "xllamacpp", "llama-cpp-python": "llama_cpp"}
"""Engine -> the package whose library it is."""
PROMPTS_KEPT = 4
"""Prompts whose tokens are known: of two partial transcripts, up to the words and whole. Reading a
full history again takes some milliseconds, twice before each first token."""
PIECE_BYTES = 256
"""More than any token stands for."""
CHOICE_TOKENS, CHOICE_SLOTS = 512, 3
"""Of prompts that texts are weighed behind: ordinary talk, a tool, and its argument are kept."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to answer, and how. Meanings as in `s2s.llm.llama.LlamaConfig`."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float
    top_p: float
    repeat_penalty: float
    seed: int | None
    stop_at: tuple[str, ...]
    tools: tuple[ToolSchema, ...] = ()

    def shown(self, template: ChatTemplate) -> str:
        """The conversation as text, with the answer opened."""
        return template.render(self.messages, tools=self.tools)


class ChatEngine(Protocol):
    """What a chat model is answered by."""

    def generate(self, request: ChatRequest, take: Take, work: Urgency) -> None: ...

    def evaluate(self, request: ChatRequest) -> None: ...

    def ending(self, request: ChatRequest) -> float | None: ...

    @property
    def calls_tools(self) -> bool: ...

    def choose(
        self, prompt: str, options: Sequence[str], stop: Callable[[], bool]
    ) -> tuple[int, float] | None: ...

    def log_probability(self, prompt: str, text: str, stop: Callable[[], bool]) -> float | None: ...

    def count_tokens(self, text: str) -> int: ...

    def close(self) -> None: ...


class LlamaEngine:
    """A loaded model and the caches of its last conversations. Safe from several threads; calls
    take turns, token by token where each has a slot of its own.

    Args:
        slots: conversations that are kept evaluated at most. Each takes memory of its own for
            `context_tokens`: 52 MB for SmolLM2-135M with 2048.

    Raises:
        LlmError: the library is not installed, or cannot load the file.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        *,
        threads: int,
        compute: Compute,
        context_tokens: int,
        gpu_layers: int,
        chat_template: str | None,
        slots: int = 1,
    ) -> None:
        def loaded(layers: int) -> tuple[LlamaModel, LlamaContext]:
            made = LlamaModel(lib, path, layers)
            return made, _context(made, context_tokens, threads)

        try:
            lib, layers = _library(name), gpu_layers if gpu_layers >= 0 else ALL_LAYERS
            (model, context), self.card = on_card(lib, layers, loaded)
        except LlamaCppError as error:
            raise LlmError(
                f"{path} cannot be loaded as a GGUF model ({error}). Fetch it again, or choose "
                "another file; a model too large for the memory fails the same way."
            ) from error
        self._tokens = _Tokens(model)
        self._template = self._tokens.template(chat_template)
        # A transcript mostly says what its last part had said: its prompts are read once.
        self._prompt = lru_cache(PROMPTS_KEPT * slots)(self._tokens.of_prompt)
        step = FairLock()
        first = [context]

        def opened() -> LlamaSlot:
            mine = first.pop() if first else _context(model, context_tokens, threads)
            return LlamaSlot(mine, BATCH_TOKENS, threads, compute, step)

        def opened_to_choose() -> LlamaSlot:
            mine = _context(model, CHOICE_TOKENS, threads)
            return LlamaSlot(mine, BATCH_TOKENS, threads, compute, step)

        self._slots = LlamaSlots(opened, slots)
        self._lock = threading.Lock()
        self._open_choices = lambda: LlamaSlots(opened_to_choose, CHOICE_SLOTS)
        self._choices: LlamaSlots | None = None
        """Made when something is to be chosen: they take 52 MB."""

    @property
    def calls_tools(self) -> bool:
        """Its template knows tools."""
        return self._template.knows_tools

    def log_probability(self, prompt: str, text: str, stop: Callable[[], bool]) -> float | None:
        """Natural logarithm of the probability of `text` behind `prompt`, a text without a
        template; None when it was stopped.

        Raises:
            LlmError: they do not fit, or the library failed.
        """
        tokens, written = self._prompt(prompt), self._tokens.of(text)
        with self._choosing(tokens, len(written)) as slot:
            urgency = Work.FIRST_SOUND
            return slot.log_probability(tokens, written, lambda _: stop(), lambda: urgency)

    def choose(
        self, prompt: str, options: Sequence[str], stop: Callable[[], bool]
    ) -> tuple[int, float] | None:
        """Which of `options` the model would write behind `prompt`, a text without a template, and
        how likely that is among them; None when it was stopped.

        Raises:
            LlmError: they do not fit, or the library failed.
        """
        tokens = self._prompt(prompt)
        written = [self._tokens.of(each) for each in options]
        choice = ConstrainedChoice(written)
        with self._choosing(tokens, max(map(len, written))) as slot:

            def logits(begun: Sequence[int]) -> Logits | None:
                shown = slot.show((*tokens, *begun), lambda _: stop(), lambda: Work.FIRST_SOUND)
                return slot.context.logits() if shown else None

            return choice.likeliest(logits)

    @contextmanager
    def _choosing(self, prompt: Sequence[int], more: int) -> Generator[LlamaSlot]:
        """A slot for a prompt with so many tokens behind it."""
        if len(prompt) + more >= CHOICE_TOKENS:
            raise too_long(len(prompt) + more, CHOICE_TOKENS)
        with self._lock:
            choices = self._choices
            if choices is None:
                choices = self._choices = self._open_choices()
        with choices.taken(prompt) as slot:
            assert slot is not None
            yield slot

    def generate(
        self, request: ChatRequest, take: Take, work: Urgency = lambda: Work.FIRST_SOUND
    ) -> None:
        """Write the answer, piece by piece, into `take`; blocks until the end.

        A thought that the template has opened is opened in the answer too, where it ends.

        Raises:
            LlmError: the conversation does not fit, or the library failed.
        """
        prompt = self._fitting(request)
        with self._slots.taken(prompt) as slot:
            if slot is None or not slot.show(prompt, take, work):
                return
            if take(opened_thought(request.shown(self._template))):
                return
            words = GeneratedText(request.stop_at)
            most = min(request.max_tokens, slot.context.room - len(prompt))
            sampling = TokenSampling(request.temperature, request.top_p, request.repeat_penalty)
            random = np.random.default_rng(request.seed)
            for token in slot.write(sampling, random, self._tokens.ends, most, work):
                piece = words.push(self._tokens.piece(token))
                if take(piece) or words.ended:
                    return
            take(words.flush())

    def evaluate(self, request: ChatRequest) -> None:
        """Evaluate the conversation and write nothing.

        Raises:
            LlmError: the conversation does not fit, or the library failed.
        """
        prompt = self._fitting(request)
        with self._slots.taken(prompt) as slot:
            if slot is not None:
                slot.show(prompt, lambda _: False, lambda: Work.TEXT_AHEAD)

    def ending(self, request: ChatRequest) -> float | None:
        """Log-odds that the last message, the user's, is complete as it is; None while other calls
        compute, or where the template does not show it as it is.

        What is evaluated is the beginning of the answer's prompt, and stays in the cache.

        Raises:
            LlmError: the conversation does not fit, or the library failed.
        """
        words = self._up_to_words(request)
        if not words:
            return None
        with self._slots.taken(words, wait=False) as slot:
            if slot is None:
                return None
            if words != slot.judged:
                slot.show(words, lambda _: False, lambda: Work.HEARING)
                slot.ending = ending_log_odds(slot.context.logits(), self._tokens.ends_words)
                slot.judged = words
            return slot.ending

    @property
    def slots(self) -> int:
        """Conversations that are kept evaluated now."""
        return len(self._slots)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, exact."""
        _ = self._slots.room  # it is open
        return len(self._tokens.of(text))

    def close(self) -> None:
        """Free the model, once nobody uses it. Idempotent."""
        contexts = self._slots.close()
        with self._lock:
            if self._choices is not None:
                contexts += self._choices.close()
        for context in contexts:
            context.close()
        if contexts:
            self._tokens.close()

    def _fitting(self, request: ChatRequest) -> tuple[int, ...]:
        """The conversation as tokens; there is room for one more."""
        room = self._slots.room
        prompt = self._prompt(request.shown(self._template))
        if len(prompt) >= room:
            raise too_long(len(prompt), room)
        return prompt

    def _up_to_words(self, request: ChatRequest) -> tuple[int, ...]:
        """The conversation as tokens, up to the last word of its last message; none where it is
        not shown in so many letters."""
        content = request.messages[-1].content
        bare = without_last_mark(content)
        shown = request.shown(self._template)
        at = shown.rfind(content)
        if not bare or at < 0:
            return ()
        tokens = self._prompt(shown[: at + len(bare)])
        if len(tokens) >= self._slots.room:
            raise too_long(len(tokens), self._slots.room)
        return tokens


ALL_LAYERS = 1 << 16


def _context(model: LlamaModel, context_tokens: int, threads: int) -> LlamaContext:
    return LlamaContext(model, context_tokens, BATCH_TOKENS, threads, vectors=False)


def _library(name: str) -> Library:
    """The library of the engine `name`; of `auto` the wheel's, else the compiled one."""
    names = ("xllamacpp", "llama-cpp-python") if name == "auto" else (name,)
    here = {package for package, _ in installed()}
    for each in names:
        if PACKAGES[each] in here:
            return library(PACKAGES[each])
    raise LlmError(f"the engine {names[0]} is not installed. Run: pip install {names[0]}")


class _Tokens:
    """Text to a model's tokens and back."""

    def __init__(self, model: LlamaModel) -> None:
        self._model: LlamaModel | None = model
        self._lib = model.lib
        self._vocabulary = self._lib.number("llama_model_get_vocab", model.handle)
        self._adds_bos = bool(self._lib.number("llama_vocab_get_add_bos", self._vocabulary))
        self._bos = self._special("llama_vocab_bos")

    def template(self, given: str | None) -> ChatTemplate:
        """The given template, the model's own, or the commonest."""
        assert self._model is not None
        own = self._lib.text("llama_model_chat_template", self._model.handle, None)
        eos = self._special("llama_vocab_eos")
        return ChatTemplate(given or own or CHATML, bos=self._bos, eos=eos)

    def of_prompt(self, text: str) -> tuple[int, ...]:
        """Tokens of a whole prompt, whose control tokens are meant."""
        return tuple(self.of(text, special=True))

    def of(self, text: str, *, special: bool = False) -> list[int]:
        """Tokens of `text`. `special`: it is a whole prompt, whose control tokens are meant."""
        begins = special and self._adds_bos
        if begins and self._bos:
            text = text.removeprefix(self._bos)  # the library puts it in front itself
        encoded = text.encode(errors="replace")
        room = len(encoded) + 8
        found = np.empty(room, np.int32)
        count = self._lib.number(
            "llama_tokenize",
            self._vocabulary,
            encoded,
            len(encoded),
            found.ctypes.data,
            room,
            begins,
            special,
        )
        if count < 0:
            raise LlmError(f"the language model cannot read a text of {len(encoded)} bytes")
        return found[:count].tolist()

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes that `token` stands for; control tokens stand for nothing unless `special`."""
        buffer = ctypes.create_string_buffer(PIECE_BYTES)  # its own: several may write at once
        size = self._lib.number(
            "llama_token_to_piece",
            self._vocabulary,
            token,
            buffer,
            PIECE_BYTES,
            0,
            special,
        )
        return buffer.raw[: max(size, 0)]

    def ends(self, token: int) -> bool:
        """`token` ends an answer."""
        return bool(self._lib.number("llama_vocab_is_eog", self._vocabulary, token))

    def ends_words(self, token: int) -> bool:
        """`token` behind a person's words ends them; by its number, for control tokens of several
        meanings stand for the same bytes, or for none."""
        if self.ends(token) or self._lib.number("llama_vocab_is_control", self._vocabulary, token):
            return True
        return ends_words(self.piece(token))

    def close(self) -> None:
        """Let go of the model."""
        self._model = None

    def _special(self, name: str) -> str:
        token = self._lib.number(name, self._vocabulary)
        if token < 0:
            return ""
        return self.piece(token, special=True).decode(errors="replace")


def too_long(prompt_tokens: int, context_tokens: int) -> LlmError:
    """The error for a conversation that does not fit."""
    return LlmError(
        f"the conversation has {prompt_tokens} tokens and the model's context {context_tokens}. "
        "Raise context_tokens, or keep fewer turns in the history."
    )
