"""Two bindings of llama.cpp behind one small protocol. Knows nothing about queues or turns.

`xllamacpp` has wheels for every system and runs llama.cpp's own server in this process.
`llama-cpp-python` is compiled on the machine, so it uses all the processor has.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import re
import secrets
import threading
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from s2s.llm.base import ChatMessage, LlmError, estimate_tokens

if TYPE_CHECKING:
    import llama_cpp
    from llama_cpp.llama_chat_format import LlamaChatCompletionHandler

_BATCH_TOKENS = 64
"""Prompt tokens between two questions whether to go on: about 0.3 s on two cores."""
_HTTP_TIMEOUT_S = 10.0
_TOO_LONG = re.compile(r"Requested tokens \((\d+)\) exceed context window of (\d+)")

Take = Callable[[str], bool]
"""Takes a piece of the answer, or "" as a sign of life; true ends the generation."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer, and how. Meanings as in `s2s.llm.llama.LlamaConfig`."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float
    top_p: float
    repeat_penalty: float
    seed: int | None
    stop_at: tuple[str, ...]


class Engine(Protocol):
    """A loaded model. Safe from several threads; calls take turns."""

    def generate(self, request: Request, take: Take) -> None:
        """Write the answer, piece by piece, into `take`; blocks until the end.

        Raises:
            LlmError: the conversation does not fit, or the engine failed.
        """
        ...

    def evaluate(self, request: Request) -> None:
        """Evaluate the conversation and write nothing."""
        ...

    def count_tokens(self, text: str) -> int: ...

    def close(self) -> None: ...


def load_engine(
    name: str,
    path: Path,
    *,
    threads: int,
    context_tokens: int,
    gpu_layers: int,
    chat_template: str | None,
) -> Engine:
    """Load `path` by the engine `name` (`auto`, `xllamacpp` or `llama-cpp-python`).

    Raises:
        LlmError: the engine is not installed, or cannot load the file.
    """
    if name == "auto":
        name = "xllamacpp" if _installed("xllamacpp") else "llama-cpp-python"
    module = {"xllamacpp": "xllamacpp", "llama-cpp-python": "llama_cpp"}[name]
    if not _installed(module):
        raise LlmError(f"the engine {name} is not installed. Run: pip install {name}")
    engine = Xllamacpp if name == "xllamacpp" else LlamaCppPython
    return engine(path, threads, context_tokens, gpu_layers, chat_template)


class _Server(Protocol):
    """What is used of `xllamacpp.Server`, which carries no types."""

    @property
    def listening_address(self) -> str: ...

    def handle_chat_completions(
        self, body: dict[str, object], on_chunk: Callable[[dict[str, object]], bool]
    ) -> None: ...


class Xllamacpp:
    """llama.cpp's server inside this process.

    The server cannot be had without its HTTP port; it listens on the loopback address, on a free
    port, with a random key that never leaves this object.
    """

    def __init__(
        self,
        path: Path,
        threads: int,
        context_tokens: int,
        gpu_layers: int,
        chat_template: str | None,
    ) -> None:
        xllamacpp = importlib.import_module("xllamacpp")
        self._key = secrets.token_urlsafe(32)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = context_tokens
        params.n_batch = _BATCH_TOKENS
        params.n_parallel = 1
        params.n_gpu_layers = gpu_layers
        params.cache_ram_mib = 0
        params.fit_params = False
        params.verbosity = -1
        params.ui = False
        params.endpoint_slots = False
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.n_threads_http = 2
        params.api_keys = [self._key]
        if chat_template is not None:
            params.chat_template = chat_template
        for cpu in (params.cpuparams, params.cpuparams_batch):
            cpu.n_threads = threads
            cpu.poll = 0
        try:
            self._server: _Server | None = xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise _not_loadable(path) from error

    def generate(self, request: Request, take: Take) -> None:
        self._run(
            self._body(request) | {"max_tokens": request.max_tokens, "return_progress": True}, take
        )

    def evaluate(self, request: Request) -> None:
        self._run(self._body(request) | {"max_tokens": 0}, lambda _: False)

    def count_tokens(self, text: str) -> int:
        address = f"{self._open_server().listening_address}/tokenize"
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        body = json.dumps({"content": text}).encode()
        # No proxy: the address is this process.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(
                urllib.request.Request(address, body, headers), timeout=_HTTP_TIMEOUT_S
            ) as answer:
                return len(json.load(answer)["tokens"])
        except OSError:  # a sandbox without even a loopback interface
            return estimate_tokens(text)
        except (ValueError, KeyError) as error:
            raise LlmError(f"the language model could not count tokens: {error}") from error

    def close(self) -> None:
        self._server = None
        gc.collect()

    def _open_server(self) -> _Server:
        if self._server is None:
            raise LlmError("the language model was used after it was closed.")
        return self._server

    def _run(self, body: dict[str, object], take: Take) -> None:
        failures: list[Exception] = []

        def on_chunk(chunk: dict[str, object]) -> bool:
            # The binding drops what a callback raises, so it is kept here.
            try:
                return take(_text(chunk))
            except Exception as error:  # noqa: BLE001 - raised below
                failures.append(error)
                return True

        try:
            self._open_server().handle_chat_completions(body, on_chunk)
        except (RuntimeError, ValueError) as error:
            raise LlmError(f"the language model refused the conversation: {error}") from error
        if failures:
            raise failures[0]

    def _body(self, request: Request) -> dict[str, object]:
        body: dict[str, object] = {
            "messages": _messages(request),
            "stream": True,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "repeat_penalty": request.repeat_penalty,
            "stop": list(request.stop_at),
        }
        if request.seed is not None:
            body["seed"] = request.seed
        return body


class LlamaCppPython:
    """llama-cpp-python."""

    def __init__(
        self,
        path: Path,
        threads: int,
        context_tokens: int,
        gpu_layers: int,
        chat_template: str | None,
    ) -> None:
        import llama_cpp

        try:
            model = llama_cpp.Llama(
                str(path),
                n_ctx=context_tokens,
                n_batch=_BATCH_TOKENS,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=gpu_layers,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            raise _not_loadable(path) from error
        if chat_template is not None:
            model.chat_handler = _chat_handler(model, chat_template)
        self._model: llama_cpp.Llama | None = model
        self._lock = threading.Lock()

    def generate(self, request: Request, take: Take) -> None:
        self._run(request, request.max_tokens, take)

    def evaluate(self, request: Request) -> None:
        self._run(request, 1, bool)

    def count_tokens(self, text: str) -> int:
        return len(self._open_model().tokenize(text.encode(), add_bos=False, special=True))

    def close(self) -> None:
        with self._lock:
            model, self._model = self._model, None
            if model is not None:
                model.close()

    def _open_model(self) -> llama_cpp.Llama:
        if self._model is None:
            raise LlmError("the language model was used after it was closed.")
        return self._model

    def _run(self, request: Request, max_tokens: int, take: Take) -> None:
        with self._lock:
            try:
                chunks = self._open_model().create_chat_completion(
                    _messages(request),  # pyright: ignore[reportArgumentType]
                    stream=True,
                    max_tokens=max_tokens,
                    temperature=request.temperature,
                    top_p=request.top_p,
                    repeat_penalty=request.repeat_penalty,
                    seed=request.seed,
                    stop=list(request.stop_at),
                )
                for chunk in chunks:
                    if take(_text(cast("dict[str, object]", chunk))):
                        return
            except (ValueError, RuntimeError) as error:
                if sizes := _TOO_LONG.search(str(error)):
                    raise too_long(*sizes.groups()) from error
                raise LlmError(f"the language model failed: {error}") from error


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _messages(request: Request) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in request.messages]


def _text(chunk: Mapping[str, object]) -> str:
    """The text of a chunk of a streamed chat completion; "" where it carries none.

    Raises:
        LlmError: the chunk reports an error.
    """
    error = chunk.get("error")
    if isinstance(error, dict):
        raise _failure(error)
    choices = chunk.get("choices")
    if not isinstance(choices, list) or not choices:
        return ""
    return choices[0].get("delta", {}).get("content") or ""


def _failure(error: Mapping[str, object]) -> LlmError:
    """What llama.cpp's server reports, in words."""
    if error.get("type") == "exceed_context_size_error":
        return too_long(error.get("n_prompt_tokens"), error.get("n_ctx"))
    return LlmError(f"the language model failed: {error.get('message', error)}")


def too_long(prompt_tokens: object, context_tokens: object) -> LlmError:
    """The error for a conversation that does not fit."""
    return LlmError(
        f"the conversation has {prompt_tokens} tokens and the model's context {context_tokens}. "
        "Raise context_tokens, or keep fewer turns in the history."
    )


def _not_loadable(path: Path) -> LlmError:
    return LlmError(
        f"{path} cannot be loaded as a GGUF model. Fetch it again, or choose another file; "
        "a model too large for the memory fails the same way."
    )


def _chat_handler(model: llama_cpp.Llama, template: str) -> LlamaChatCompletionHandler:
    """A handler that renders conversations by `template` (Jinja)."""
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    def piece(token: int) -> str:
        return model.detokenize([token], special=True).decode("utf-8", errors="ignore")

    formatter = Jinja2ChatFormatter(
        template, eos_token=piece(model.token_eos()), bos_token=piece(model.token_bos())
    )
    return formatter.to_chat_handler()
