"""Whoever catches every error gives it on: raises it again, raises another from it, or logs where
it came from. What does neither is listed here with its reason, so that no error of ours is lost.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.documents import ROOT

BROAD = {"Exception", "BaseException"}

KEPT = {
    "app.together._run": "raised again by `wait`",
    "bench.peers.run.main": "another engine's: it is that engine's row",
    "bench.qwen3.core.send": "raised again in the process that waits for it",
    "llm.llama._write": "raised again by who reads the answer",
    "system.mlx_thread.run": "raised again by who called",
    "transport.threaded.run": "raised again by who reads the stream",
    "transport.wyoming.satellite.server._converse": "raised again by `run`",
    "tts.qwen3.engine.prefetch.run": "raised again where the items are read",
}
"""By module and function: what becomes of an error that is caught there."""

SUPPRESSED = {
    "system.remote.web_socket.close": "farewell to a socket that may be in any state",
    "transport.wyoming.connection._stop_speech": "of speech that was cancelled, and has told it",
}
"""Likewise, for `suppress` of every error."""

FILES = sorted((ROOT / "s2s").rglob("*.py"))


def caught(path: Path) -> Iterator[tuple[str, ast.ExceptHandler]]:
    """Every handler of all errors, by module and function."""
    for name, node in named(path):
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type):
            yield name, node


def named(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """Every node, with its module and the function that it is in."""
    module = ".".join(path.relative_to(ROOT / "s2s").with_suffix("").parts)

    def walk(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{module}.{child.name}"
            yield inner, child
            yield from walk(child, inner)

    yield from walk(ast.parse(path.read_text("utf-8")), module)


def is_broad(kind: ast.expr | None) -> bool:
    """Every error is meant, or nearly."""
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(each is None or (isinstance(each, ast.Name) and each.id in BROAD) for each in kinds)


def gives_on(handler: ast.ExceptHandler) -> bool:
    """It raises, or logs the traceback."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise) and (node.exc is None or node.cause is not None):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "exception":
                return True
            if any(each.arg == "exc_info" for each in node.keywords):
                return True
    return False


def suppresses(node: ast.AST) -> bool:
    """It is a `suppress` of every error."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else None
    called = node.func.id if isinstance(node.func, ast.Name) else called
    return called == "suppress" and any(is_broad(each) for each in node.args)


def test_an_error_of_any_kind_is_given_on_or_the_reason_is_here() -> None:
    found = {name for path in FILES for name, node in caught(path) if not gives_on(node)}
    assert found - KEPT.keys() == set(), "raise it, log it with exc_info, or say here what becomes"
    assert KEPT.keys() - found == set(), "it is given on now, or gone: take it out of the list"


def test_every_error_is_suppressed_only_where_a_reason_is_here() -> None:
    found = {name for path in FILES for name, node in named(path) if suppresses(node)}
    assert found == set(SUPPRESSED)


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("raise", True),
        ("raise ValueError(1) from error", True),
        ("raise ValueError(1)", False),
        ("log.exception('x')", True),
        ("log.error('x', exc_info=error)", True),
        ("log.error('x')", False),
        ("pass", False),
    ],
)
def test_what_counts_as_given_on(body: str, given: bool) -> None:
    [tried] = ast.parse(f"try: ...\nexcept Exception as error: {body}").body
    assert isinstance(tried, ast.Try)
    [handler] = tried.handlers
    assert is_broad(handler.type)
    assert gives_on(handler) is given


def test_what_counts_as_broad() -> None:
    found = [
        is_broad(node.type)
        for kind in (" Exception", "", " (ValueError, BaseException)", " ValueError")
        for node in ast.walk(ast.parse(f"try: ...\nexcept{kind}: ..."))
        if isinstance(node, ast.ExceptHandler)
    ]
    assert found == [True, True, True, False]
