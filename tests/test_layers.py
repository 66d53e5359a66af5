"""The house, held by reading the sources: who may import whom, and how long things may get."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "s2s").rglob("*.py"))

LAYERS: tuple[tuple[str, ...], ...] = (
    ("s2s",),
    ("core",),
    ("system",),
    ("models",),
    ("config",),
    ("turns", "stt", "llm", "tts"),
    ("transport",),
    ("session",),
    ("testing",),
    ("app", "bench"),
    ("__main__",),
)
"""A module imports from its own layer and those above it in this list, never from those below."""

STAGES = ("turns", "stt", "llm", "tts")
LIBRARIES = ("tts.qwen3", "tts.vits")
DOORS = {"tts.vits": (), "tts.qwen3": ("tts.qwen3.checkpoint",)}
"""Libraries of which nobody outside imports an inner module, and what is a door inside of them
(docs/decisions/qwen3-two-doors.md)."""

LIBRARIES_MAY_IMPORT = (
    "core.arrays", "core.audio", "core.channel", "core.errors", "models", "system",
    "tts.base", "tts.pieces", "tts.speech_time",
)  # fmt: skip
SAME_NAME = {
    "Grammar": {"tts.text.european.grammar", "tts.text.han.rules"},
    "Matrices": {"tts.qwen3.ggml.matrices", "tts.qwen3.native.transformer"},
    "Speech": {"core.messages", "tts.qwen3.engine.engine"},
}
"""Class names that two modules share: the same thing for other languages or on another backend; and
what a person said, which is a message, as what a voice says is a part of its library's door."""
HEAVY = ("torch", "onnxruntime", "llama_cpp", "xllamacpp", "faster_whisper", "piper", "hibari")

MAX_FILE_LINES = 400
LONGER = {
    "tts.vits.graph.stepwise": "one rewriting of a graph, operator by operator",
}
"""Files that may be longer, each with its reason."""
LONGER_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 8
MAX_MODULES = 20
"""In a folder, its `__init__` not counted."""


def module_name(path: Path) -> str:
    """`s2s/tts/base.py` is `tts.base`; the package itself is `s2s`."""
    parts = path.relative_to(ROOT / "s2s").with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__") or "s2s"


NAMES = {module_name(path) for path in SOURCES}


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def layer(module: str) -> int:
    """The layer of a module, by the longest entry that holds it."""
    found = [
        (len(entry), index)
        for index, entries in enumerate(LAYERS)
        for entry in entries
        if within(module, entry)
    ]
    assert found, f"s2s/{module}: belongs to no layer of tests/test_layers.py; add it to one"
    return max(found)[1]


def stage(module: str) -> str:
    return module.split(".")[0] if layer(module) == layer("stt") else ""


def imports(path: Path, *, type_checking: bool = False) -> Iterator[str]:
    """The modules of this package that a file imports, those under TYPE_CHECKING only if wanted."""
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        guarded = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if isinstance(node, ast.If) and guarded and not type_checking:
            todo.extend(node.orelse)
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] + [module]
            names = [name for name in names if name.removeprefix("s2s.") in NAMES] or [module]
        else:
            continue
        yield from (name.removeprefix("s2s.") for name in names if within(name, "s2s"))


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_a_module_imports_only_what_is_above_it(path: Path):
    module = module_name(path)
    for imported in imports(path):
        assert layer(imported) <= layer(module), f"s2s/{module} imports {imported}, further down"
        if stage(module) and stage(imported):
            assert stage(module) == stage(imported), f"stage {module} imports stage {imported}"


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_is_usable_alone(library: str):
    for path in SOURCES:
        if not within(module_name(path), library):
            continue
        for imported in imports(path):
            allowed = any(within(imported, room) for room in LIBRARIES_MAY_IMPORT)
            assert within(imported, library) or allowed or imported == "s2s", (
                f"{module_name(path)} imports {imported}"
            )


@pytest.mark.parametrize("library", DOORS)
def test_a_library_is_entered_through_its_door(library: str):
    """Everything outside imports the package itself; its own tests may look inside."""
    own_tests = ROOT / "tests" / library.replace(".", "/")
    outside = [path for path in SOURCES if not within(module_name(path), library)]
    for folder in ("scripts", "tests"):
        outside += (p for p in (ROOT / folder).rglob("*.py") if not p.is_relative_to(own_tests))
    for path in outside:
        for imported in imports(path, type_checking=True):
            inner = imported.startswith(f"{library}.") and imported not in DOORS[library]
            assert not inner, (
                f"{path.relative_to(ROOT)} imports {imported}; s2s.{library} is the way in"
            )


def test_there_is_no_relative_import_and_no_cycle():
    graph = {module_name(path): set(imports(path)) & NAMES for path in SOURCES}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"import cycle: {' -> '.join((*trail, module))}"
        if module not in done:
            for imported in graph[module] - {"s2s", module}:
                visit(imported, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"


def test_importing_the_program_loads_no_model_runtime():
    modules = (
        "s2s",
        "s2s.app.cli",
        "s2s.app.commands",
        "s2s.config.loader",
        "s2s.session.session",
        "s2s.app.talk",
    )
    code = (
        f"import sys, {', '.join(modules)}\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_nothing_gets_too_long(path: Path):
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    allowed = LONGER_FILE_LINES if module_name(path) in LONGER else MAX_FILE_LINES
    assert lines <= allowed, f"{path.name} has {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node, clean=False) or ""
        body = (node.end_lineno or 0) - node.lineno + 1 - len(docstring.splitlines())
        assert body <= MAX_FUNCTION_LINES, f"{path.name}: {node.name} has {body} lines"
        arguments = [a.arg for a in [*node.args.args, *node.args.kwonlyargs] if a.arg != "self"]
        assert len(arguments) <= MAX_PARAMETERS, f"{path.name}: {node.name} takes {arguments}"


def test_every_folder_is_a_room_and_none_is_a_hall():
    modules = [path for path in SOURCES if path.name != "__init__.py"]
    for folder in {path.parent for path in SOURCES} - {ROOT / "s2s"}:
        held = [path.name for path in modules if path.parent == folder]
        assert len(held) <= MAX_MODULES, f"{folder} holds {len(held)} modules: {sorted(held)}"
        assert len(held) > 1, f"{folder} holds {held}: a module beside its neighbours would do"


def test_a_public_class_name_means_one_thing():
    """Private names, and C structures as the kernel calls them, stay within their module."""
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            if "Structure" not in [ast.unparse(base) for base in node.bases]:
                found.setdefault(node.name, set()).add(module_name(path))
    twice = {name: modules for name, modules in found.items() if len(modules) > 1}
    assert twice == SAME_NAME, "give one of them a name that says which it is"


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_every_module_says_what_it_is_for(path: Path):
    text = path.read_text(encoding="utf-8")
    assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{path}: no module docstring"


def test_only_the_clock_sleeps():
    for path in SOURCES:
        if module_name(path) == "core.clock":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.sleep", "sleep"):
                raise AssertionError(f"{path}:{node.lineno} sleeps; wait on a condition instead")


def test_help_waits_for_no_numpy():
    names = ("numpy", "multiprocessing")
    code = f"import sys, s2s.app.cli\nprint([name for name in {names} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
