"""Language servers on this machine, found where they usually listen."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from s2s.llm.openai import listed_models

ANSWER_S = 1.0
"""Longest wait for a list of models; that nobody listens is known at once."""
MOST_NAMES = 4
"""Of a server's models that are told."""


@dataclass(frozen=True, slots=True)
class UsualServer:
    """A language server and where it listens unless it is told otherwise."""

    name: str
    profile: str
    """Of `configs/`, with the same address."""
    port: int
    remedy: str
    """How it gets a model."""


USUAL = (
    UsualServer("Ollama", "ollama", 11434, "ollama pull qwen3:1.7b"),
    UsualServer("llama-server", "llama-server", 8080, "llama-server --model FILE.gguf"),
    UsualServer("vLLM", "vllm", 8000, "vllm serve MODEL"),
    UsualServer("LM Studio", "lmstudio", 1234, "lms get"),
)


@dataclass(frozen=True, slots=True)
class ServerFound:
    """A server that listens."""

    server: UsualServer
    models: tuple[str, ...]

    @property
    def told(self) -> str:
        """What it is and has."""
        names = list(self.models[:MOST_NAMES])
        if more := len(self.models) - len(names):
            names.append(f"{more} more")
        has = ", ".join(names) or "no model"
        return f"{self.server.name} listens at 127.0.0.1:{self.server.port} and has {has}"

    @property
    def remedy(self) -> str:
        """The command line that uses it, or gets it a model."""
        if not self.models:
            return self.server.remedy
        return f"python -m s2s --profile {self.server.profile} --llm.model {self.models[0]}"


def local_servers(usual: Sequence[UsualServer] = USUAL) -> Iterator[ServerFound]:
    """The servers among `usual` that listen on this machine and speak OpenAI's API."""
    for server in usual:
        models = _models(server.port)
        if models is not None:
            yield ServerFound(server, models)


def _models(port: int) -> tuple[str, ...] | None:
    """Names of the models behind a port; None when no such server is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
    try:
        connection.request("GET", "/v1/models")
        answer = connection.getresponse()
        body = answer.read(1 << 20) if answer.status == 200 else b""
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    listed = listed_models(body)
    return None if listed is None else tuple(listed)
