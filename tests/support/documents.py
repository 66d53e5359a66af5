"""The documents of this project as tests read them, and the parts of them that are made from code.

    python -m tests.support.documents       writes those parts anew

A part that is made stands between `<!-- made: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from s2s.config import registry, typed
from s2s.config.schema import sections
from s2s.core.setting import documented
from s2s.llm.llama import LlamaConfig
from s2s.models.manifest import read_manifest
from tests.support.sources import parsed

ROOT = Path(__file__).parents[2]
DECISIONS = sorted(
    path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.name != "README.md"
)
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
"""What is written for people, the decisions left out."""

PROGRAMS = ("python", "python3", "s2s", "basedpyright", ".ci/run", "pip", "uv", "docker", "sudo")
"""With these an inline piece of code begins that is a command line."""

TREE = ("s2s", "configs", "scripts", "contrib")
"""Folders whose files the tree lists."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.S)
_LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of code in a document."""

    document: Path
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}: {self.text.strip().splitlines()[0]}"


def fences(language: str) -> Iterator[Snippet]:
    """Fenced blocks of a language in all documents."""
    for path in DOCUMENTS:
        for found in _FENCE.finditer(path.read_text(encoding="utf-8")):
            if found[1] == language:
                yield Snippet(path, found[2])


def commands() -> list[Snippet]:
    """Every command line: each line of a `sh` or `bash` block, and inline code that begins as one
    does."""
    found = [
        Snippet(block.document, line.strip())
        for block in (*fences("sh"), *fences("bash"))
        for line in block.text.splitlines()
        if line.strip()
    ]
    for path in DOCUMENTS:
        text = _FENCE.sub("", _MADE.sub("", path.read_text(encoding="utf-8")))
        for inline in _INLINE.finditer(text.replace("\n", " ")):
            words = inline[1].split()
            if words[0] in PROGRAMS and len(words) > 1:
                found.append(Snippet(path, inline[1]))
    return found


def words(command: str) -> list[str]:
    """A command line as a shell splits it, its comment left out."""
    return shlex.split(command, comments=True)


def links(path: Path) -> list[str]:
    """Where the links of a document lead."""
    return _LINK.findall(_FENCE.sub("", path.read_text(encoding="utf-8")))


def anchors(path: Path) -> set[str]:
    """The names of a document's headings, as GitHub makes them."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def remade(path: Path) -> str:
    """A document's text with its made parts as they should be."""
    text = path.read_text(encoding="utf-8")
    return _MADE.sub(lambda part: part[1] + PARTS[part[2]]() + part[3], text)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    between = f"|{'---|' * len(head)}\n"
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
    return "".join([lines[0], between, *lines[1:]])


def _backends() -> str:
    rows = [
        (backend.stage.upper(), f"`{backend.name}`", backend.about, f"`{backend.extra}`")
        for stage in registry.STAGES
        for backend in registry.backends(stage)
    ]
    return _table(("stage", "name", "what", "extra"), rows)


def _stages() -> str:
    rows = [
        (
            f"`--{stage} NAME`",
            ", ".join(f"`{backend.name}`" for backend in registry.backends(stage)),
        )
        for stage in registry.STAGES
    ]
    return _table(("chosen by", "the default first"), rows)


def _models() -> str:
    used = {name: backend.name for backend in registry.BACKENDS for name in backend.models}
    rows = [
        (
            f"`{model.name}`",
            model.about,
            f"{model.size_bytes / 1e6:.1f} MB",
            f"[{model.licence}]({model.page})",
            used.get(model.name, "every session" if "embedded" in model.groups else ""),
        )
        for model in read_manifest().values()
        if model.language is None or model.groups
    ]
    return _table(("model", "what it is", "size", "licence", "used by"), rows)


def _language_models() -> str:
    rows = [
        (
            f"`--llm.model {model.name}`",
            facts.parameters,
            facts.languages,
            f"{model.size_bytes / 1e9:.1f} GB",
            f"{model.memory_bytes(LlamaConfig().context_tokens) / 1e9:.1f} GB",
            f"{facts.context_tokens // 1024} Ki",
            "yes" if facts.tools else "in words",
            f"[{model.licence}]({model.page})",
        )
        for model in read_manifest().values()
        if (facts := model.language) is not None
    ]
    columns = ("use it with", "parameters", "languages", "download", "memory", "context", "tools")
    return _table((*columns, "licence"), rows)


def _settings() -> str:
    """A table for each section and for each backend's options."""
    parts: list[str] = []
    for name, kind in sections().items():
        parts.append(f"### {name}\n\n{_settings_table(name, kind)}")
        if name not in registry.STAGES:
            continue
        for backend in registry.backends(name):
            title = f"{name}, options of `{backend.name}`"
            options = cast(type, typed.load_reference(backend.config))
            table = _settings_table(name, options)
            parts.append(f"### {title}\n\n{table}")
    return "\n".join(parts)


def _settings_table(path: str, kind: type) -> str:
    return _table(("setting", "default", "what it does"), list(_rows(path, kind)))


def _rows(path: str, kind: type) -> Iterator[tuple[str, str, str]]:
    texts = documented(kind)
    defaults = kind()
    for field in dataclasses.fields(kind):
        key = f"{path}.{field.name}"
        value: object = getattr(defaults, field.name)
        if field.name == "options" and path in registry.STAGES:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _rows(key, type(value))
            continue
        yield f"`{key}`", f"`{_as_yaml(value)}`", texts[field.name].replace("|", "\\|")


def _as_yaml(value: object) -> str:
    text = yaml.safe_dump([typed.plain(value)], allow_unicode=True, width=1000)
    text = text.removeprefix("- ").strip() if isinstance(value, str | int | float) else ""
    if value is None or not text:
        text = "none" if value is None else str(typed.plain(value))
    return text.replace("|", "\\|") if len(text) <= _LONGEST_DEFAULT else "..."


_LONGEST_DEFAULT = 100
"""A default of more characters is shown by `s2s config` alone."""


def _tree() -> str:
    """Each folder and file with the first sentence of what it says of itself."""
    lines: list[str] = []
    for folder in TREE:
        for path in _listed(ROOT / folder):
            depth = len(path.relative_to(ROOT).parts) - 1
            name = f"{path.name}/" if path.is_dir() else path.name
            if phrase := _phrase(path):
                lines.append(f"{'  ' * depth}- `{name}`: {phrase}\n")
            else:
                lines.append(f"{'  ' * depth}- `{name}`\n")
    return "".join(lines)


def _listed(folder: Path) -> Iterator[Path]:
    """A folder, its files, then its folders; what is no source is left out."""
    yield folder
    inside = sorted(folder.iterdir())
    for path in inside:
        if path.is_file() and path.name != "__init__.py" and path.suffix in _SHOWN:
            yield path
    for path in inside:
        if path.is_dir() and path.name != "__pycache__" and any(path.rglob("*.*")):
            yield from _listed(path)


_SHOWN = (".py", ".c", ".h", ".yaml", ".service", ".plist", ".flac", ".html", ".js")


def _phrase(path: Path) -> str:
    """The first sentence of a file's docstring or first comment; of a folder, of its package."""
    if path.is_dir():
        path = path / "__init__.py"
    if not path.is_file():
        return ""
    if path.suffix == ".py":
        text = ast.get_docstring(parsed(path)) or ""
    elif path.suffix in (".yaml", ".service"):
        text = _leading(path, "#")
    elif path.suffix in (".c", ".h"):
        text = _c_comment(path)
    else:
        return ""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=[.:])\s(?=[A-Z`\"])", paragraph)[0].rstrip(".:")


def _leading(path: Path, sign: str) -> str:
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(sign):
            break
        lines.append(line.removeprefix(sign).strip())
    return "\n".join(lines)


def _c_comment(path: Path) -> str:
    """The comment before any code, of the file or else of its header."""
    for each in (path, path.with_suffix(".h")):
        if each.is_file():
            found = re.match(r"\s*/\*+(.*?)\*/", each.read_text(encoding="utf-8"), re.S)
            if found is not None:
                return re.sub(r"^\s*\* ?", "", found[1], flags=re.M)
    return ""


def _decisions() -> str:
    lines = [
        f"- [{path.read_text(encoding='utf-8').splitlines()[0].removeprefix('# ')}]({path.name})\n"
        for path in DECISIONS
    ]
    return "".join(sorted(lines))


PARTS: dict[str, Callable[[], str]] = {
    "backends": _backends,
    "stages": _stages,
    "models": _models,
    "language_models": _language_models,
    "settings": _settings,
    "tree": _tree,
    "decisions": _decisions,
}
"""What can be made, by the name in its mark."""

MADE = [*DOCUMENTS, ROOT / "docs" / "decisions" / "README.md"]
"""Documents that may have made parts."""


def main(arguments: Sequence[str]) -> int:
    """Write what is out of date, or with `--check` name it; 1 when there was something to name."""
    old = [path for path in MADE if remade(path) != path.read_text(encoding="utf-8")]
    for path in old:
        print(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.write_text(remade(path), encoding="utf-8")
    return 1 if old and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
