"""The house, held by reading the sources: who may import whom, and how long things may get."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from s2s.app.commands.table import COMMANDS
from tests.support.sources import parsed

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "s2s").rglob("*.py"))

LAYERS: tuple[tuple[str, ...], ...] = (
    ("s2s",),
    ("core",),
    ("system",),
    ("models",),
    ("config",),
    ("tools",),
    ("turns", "stt", "llm", "tts"),
    ("transport",),
    ("session",),
    ("records",),
    ("testing",),
    ("app", "bench"),
    ("__main__",),
)
"""A module imports from its own layer and those above it in this list, never from those below."""

STAGES = ("turns", "stt", "llm", "tts")
"""They never import each other: docs/decisions/stages-never-import-each-other.md."""
LIBRARIES = ("tts.qwen3", "tts.vits")
DOORS = {"tts.vits": (), "tts.qwen3": ("tts.qwen3.checkpoint",)}
"""Libraries of which nobody outside imports an inner module, and what is a door inside of them
(docs/decisions/qwen3-two-doors.md)."""

LIBRARIES_MAY_IMPORT = (
    "core.arrays", "core.audio", "core.channel", "core.errors", "core.untyped", "models", "system",
    "tts.base", "tts.codec_stream", "tts.pieces", "tts.speech_time",
)  # fmt: skip
SAME_NAME = {
    "Grammar": {"tts.text.european.grammar", "tts.text.han.rules"},
    "Matrices": {"tts.qwen3.ggml.matrices", "tts.qwen3.native.transformer"},
    "Speech": {"core.messages", "tts.qwen3.engine.engine"},
}
"""Class names that two modules share: the same thing for other languages or on another backend; and
what a person said, which is a message, as what a voice says is a part of its library's door."""
HEAVY = ("torch", "onnxruntime", "llama_cpp", "xllamacpp", "faster_whisper", "piper", "hibari")

TIMED_WAITS = {
    "core.clock": "the clock itself",
    "core.channel": "on a condition of the session's clock",
    "core.speculation": "on a condition of the session's clock",
    "app.cluster.model_replica": "signs of life of a model, now and then",
    "bench.cluster.clients": "clients speak in real time, and come back",
    "bench.cluster.engine": "processes are watched while they start and end",
    "bench.cluster.fakes": "a voice that takes as long as its sound",
    "bench.cluster.parts": "what happens in between is let happen",
    "bench.cluster.run": "likewise",
    "bench.load.at_once": "clients speak in real time",
    "bench.load.clients": "likewise",
    "bench.load.run": "a server is watched while it works",
    "transport.server.run": "limits of connections, as uvicorn keeps them",
    "transport.server.kept.keeping": "at the end, for a place elsewhere that is written to",
    "transport.server.kept.redis_store": "the limit of a connection",
    "transport.playback": "on a condition of the session's clock",
    "transport.client_transport": "on a condition of the session's clock",
    "transport.ring": "on a condition of the session's clock",
    "core.handler": "at the end, for a thread of the session's clock",
    "session.session": "at the end, for the stages, by the session's clock",
    "session.client.wiring": "likewise",
    "session.client.beside": "likewise",
    "app.talking.keys": "Windows' console cannot be waited for, and no conversation waits for it",
    "app.doctor.servers": "limits of connections to this machine",
    "app.together": "at the end, for a model that still loads: docs/decisions/crash-at-exit.md",
    "records.files": "at the end, for a disk that may hang",
    "llm.llama": "at the end, for a thread whose model may not stop",
    "transport.remote.client": "at the end, for a socket that is being opened",
    "transport.remote.loudspeaker": "at the end, for a thread of the session's clock",
    "transport.remote.websocket": "limits of a connection, and at the end for a dead one",
    "models.hub": "the limit of an answer of the hub",
    "models.fetch": "a bar for a download: docs/decisions/fetch-progress.md",
    "system.remote.client": "a busy server said when to ask again; and limits of a connection",
    "system.remote.web_socket": "limits of a connection",
    "testing.random_clients": "in simulated time",
    "bench.answer": "what the processor does is looked at now and then",
    "bench.peers.compare": "another engine that may hang",
    "tts.qwen3.native.compiling": "a compiler that may hang",
    "tts.qwen3.mnn.converter": "a converter that may hang",
    "llm.calling.own_tools": "for a tool, on a condition of the session's clock",
    "tools.running": "likewise",
    "tools.mcp.connection": "a server of tools that may hang",
    "tools.mcp.servers": "at the end, for such a server",
}
"""Modules that wait until a time has passed, and why each may. No stage's work is among them."""

UNTYPED_NEIGHBOURS = {
    "bench.answer",
    "bench.conversation.picture",
    "bench.cluster.picture",
    "bench.load.picture",
    "bench.turn_ends.endpointing",
    "bench.noise",
    "bench.peers.run",
    "bench.pictures",
    "bench.pipeline",
    "bench.turn_audio",
    "bench.vits",
    "bench.vits_worker",
    "models.hub",
    "stt.faster_whisper",
    "turns.torch_vad",
    "app.voices.listed",
    "tts.backends.chattts",
    "tts.backends.hibari",
    "tts.backends.kokoro.phonemes",
    "tts.backends.mlx_audio",
    "tts.backends.mms.backend",
    "tts.backends.pocket",
    "tts.qwen3.checkpoint.hub",
    "tts.text.european.words",
    "tts.vits.phonemes",
    "turns.orders.wake_word",
}
"""Modules that stand before a package without types, where some of what it gives is unknown."""

MAX_FILE_LINES = 400
LONGER = {
    "tts.vits.graph.stepwise": "one rewriting of a graph, operator by operator",
}
"""Files that may be longer, each with its reason."""
LONGER_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
MORE_PARAMETERS = {
    "app.talking.talk",
    "bench.heard_back",
    "llm.handler",
    "llm.llama_engine",
    "system.llama_context",
    "testing.echo_room",
    "tts.qwen3.engine.decode_loop",
    "tts.qwen3.engine.engine",
    "tts.qwen3.engine.sounding",
    "tts.qwen3.language",
    "tts.qwen3.model",
    "tts.qwen3.native.emulated_acceptance",
    "tts.qwen3.native.library",
    "tts.qwen3.onnx.layers",
    "turns.handler",
    "turns.open_turn",
}
"""Modules with longer argument lists; pyproject.toml names the same files. To become shorter; the
two of `native` have the arguments of a C function."""
MANY_PARAMETERS = 8
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


@cache
def imports(path: Path, *, type_checking: bool = False) -> tuple[str, ...]:
    """The modules of this package that a file imports, those under TYPE_CHECKING only if wanted."""
    return tuple(_imports(parsed(path), type_checking))


def _imports(tree: ast.Module, type_checking: bool) -> Iterator[str]:
    todo: list[ast.AST] = [tree]
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
        for node in ast.walk(parsed(path)):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"


def test_importing_the_program_loads_no_model_runtime():
    modules = (
        "s2s",
        "s2s.app.cli",
        *(f"s2s.app.commands.{command.module}" for command in COMMANDS.values()),
        "s2s.config.loader",
        "s2s.session.session",
        "s2s.app.talking.talk",
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
    lines = len(path.read_text(encoding="utf-8").splitlines())
    allowed = LONGER_FILE_LINES if module_name(path) in LONGER else MAX_FILE_LINES
    assert lines <= allowed, f"{path.name} has {lines} lines"
    for node in ast.walk(parsed(path)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node, clean=False) or ""
        body = (node.end_lineno or 0) - node.lineno + 1 - len(docstring.splitlines())
        assert body <= MAX_FUNCTION_LINES, f"{path.name}: {node.name} has {body} lines"
        arguments = [
            a.arg for a in [*node.args.args, *node.args.kwonlyargs] if a.arg not in ("self", "cls")
        ]
        most = MANY_PARAMETERS if module_name(path) in MORE_PARAMETERS else MAX_PARAMETERS
        assert len(arguments) <= most, f"{path.name}: {node.name} takes {arguments}"


def test_no_module_is_excused_that_needs_no_excuse():
    """What takes fewer arguments, or is no longer there, leaves the list."""
    needed: set[str] = set()
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if len([a for a in every if a.arg not in ("self", "cls")]) > MAX_PARAMETERS:
                    needed.add(module_name(path))
    assert needed == MORE_PARAMETERS
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ignored = project["tool"]["ruff"]["lint"]["per-file-ignores"]
    excused = {name for name, rules in ignored.items() if name[0] == "s" and "PLR0913" in rules}
    assert excused == {f"s2s/{module.replace('.', '/')}.py" for module in MORE_PARAMETERS}


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
        for node in parsed(path).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            if "Structure" not in [ast.unparse(base) for base in node.bases]:
                found.setdefault(node.name, set()).add(module_name(path))
    twice = {name: modules for name, modules in found.items() if len(modules) > 1}
    assert twice == SAME_NAME, "give one of them a name that says which it is"


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_every_module_says_what_it_is_for(path: Path):
    text = path.read_text(encoding="utf-8")
    assert not text.strip() or ast.get_docstring(parsed(path)), f"{path}: no module docstring"


def test_types_are_relaxed_only_for_others_and_with_a_reason():
    """Strict everywhere, but for files that stand before a package which has no types."""
    relaxed: set[str] = set()
    for path in SOURCES:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line, following in itertools.pairwise(lines):
            if line.startswith("# pyright:"):
                relaxed.add(module_name(path))
                assert following.startswith("# "), f"{path.name}: say why types are relaxed"
    assert relaxed == UNTYPED_NEIGHBOURS


def timed_waits(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that sleep, or that wait for something until a time has passed; what asks a `Clock` to
    wait is none of them."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        keywords = [word for word in node.keywords if word.arg and "timeout" in word.arg]
        constant = [isinstance(w.value, ast.Constant) and w.value.value is None for w in keywords]
        seconds = [arg for arg in node.args if _TIME.search(ast.unparse(arg))]
        of_text = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)
        by_name = name == "sleep" or len(node.args) == {"select": 4, "poll": 1}.get(name)
        by_position = name in ("wait", "join", "acquire", "result") and seconds and not of_text
        if by_name or by_position or not all(constant):
            yield node


_TIME = re.compile(r"(_s|_ms)\b|timeout|deadline|^[\d.]+$", re.IGNORECASE)


def test_what_counts_as_a_timed_wait():
    waits = ("time.sleep(1)", "await asyncio.sleep(x)", "event.wait(0.2)", "q.get(timeout=0.1)",
             "thread.join(left_s)", "lock.acquire(timeout=1)", "select.select([a], [], [], 1)",
             "process.wait(_WATCH_S)", "poller.poll(100)")  # fmt: skip
    others = ("event.wait()", "', '.join(parts)", "q.get()", "pool.join()", "options.get('a')",
              "lock.acquire()", "compute.wait(work)", "run(command, timeout=None)",
              "clock.wait_until(0.5)", "select.select([a], [], [])")  # fmt: skip
    for text in waits:
        assert list(timed_waits(ast.parse(text))), text
    for text in others:
        assert not list(timed_waits(ast.parse(text))), text


def test_only_the_clock_waits_for_a_time():
    found = {module_name(path) for path in SOURCES if any(timed_waits(parsed(path)))}
    assert found - set(TIMED_WAITS) == set(), "wait for what happens, or say here why not"
    assert set(TIMED_WAITS) <= found, "leave the list where nothing waits any more"


def test_help_waits_for_no_numpy():
    names = ("numpy", "multiprocessing")
    code = f"import sys, s2s.app.cli\nprint([name for name in {names} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
