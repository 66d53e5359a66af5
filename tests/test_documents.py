"""What the documents say is there: code runs, files and links exist, tables are those of the code.

Their command lines run in test_document_commands.py.
"""

from __future__ import annotations

import configparser
import plistlib
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.app.commands.table import COMMANDS
from s2s.config.loader import profiles
from tests.support.documents import (
    DECISIONS,
    DOCUMENTS,
    MADE,
    ROOT,
    Snippet,
    anchors,
    fences,
    links,
    remade,
)

README = ROOT / "README.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
EXAMPLES = list(fences("python"))
PROSE = [*MADE, *DECISIONS]
MAX_README_LINES = 120
MAX_DECISION_LINES = 60
_PATH = re.compile(r"(?<![/\w])(?:s2s|scripts|tests|configs|docs|contrib)/[\w./*-]*[\w/]")
_SOURCES = ("*.py", "*.c", "*.h", "*.toml")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tables(text: str) -> list[list[list[str]]]:
    """Tables as rows of cells, the line below the head left out."""
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.M):
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in block.splitlines()]
        found.append([rows[0], *rows[2:]])
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_runs(
    example: Snippet,
    tiny_qwen3: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a tiny checkpoint of random weights in the place of the published one."""
    monkeypatch.chdir(tmp_path)
    tiny = repr(str(tiny_qwen3("0.6b-customvoice")))
    code = example.text.replace('"0.6b-customvoice"', tiny)
    exec(compile(code, str(example), "exec"), {})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("document", MADE, ids=name_of)
def test_a_file_that_is_named_is_there(document: Path) -> None:
    text = re.sub(r"s2s/tts/kokoro\.py|tests/tts/test_kokoro\.py", "", document.read_text("utf-8"))
    for path in sorted(set(_PATH.findall(text))):
        assert list(ROOT.glob(path)), f"{name_of(document)} names {path}"


@pytest.mark.parametrize("document", PROSE, ids=name_of)
def test_a_link_leads_somewhere(document: Path) -> None:
    for link in links(document):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{name_of(document)} links {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(document)} links {link}"


@pytest.mark.parametrize("document", MADE, ids=name_of)
def test_a_part_that_is_made_from_the_code_is_up_to_date(document: Path) -> None:
    """Settings, backends, models, the tree, the list of decisions."""
    assert remade(document) == document.read_text("utf-8"), "run: python -m tests.support.documents"


def test_the_readme_is_for_who_wants_to_talk() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= MAX_README_LINES


def test_every_document_is_found_from_the_readme() -> None:
    found, new = {README}, [README]
    while new:
        for link in links(document := new.pop()):
            path = (document.parent / link.partition("#")[0]).resolve()
            if path.suffix == ".md" and path not in found:
                found.add(path)
                new.append(path)
    assert set(PROSE) <= found


def test_the_readme_names_every_command_and_profile() -> None:
    text = README.read_text("utf-8")
    rows = [row[0] for table in tables(text) for row in table[1:]]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert set(profiles()) <= named
    for command in COMMANDS:
        assert command == "talk" or any(
            name.startswith(f"python -m s2s {command}") for name in named
        )


def test_every_extra_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    text = (ROOT / "docs" / "install.md").read_text("utf-8")
    for extra in set(project["project"]["optional-dependencies"]) - {"test", "check"}:
        assert f"`{extra}`" in text, extra


def test_a_figure_names_its_machine() -> None:
    machines, *measured = tables(BENCHMARKS.read_text("utf-8"))
    known = {row[0] for row in machines[1:]}
    for table in measured:
        assert table[0][0] == "machine", table[0]
        assert {row[0].split(",")[0] for row in table[1:]} <= known, table[0]


def test_a_title_says_that_weights_are_random() -> None:
    text = BENCHMARKS.read_text("utf-8")
    for section in re.split(r"^(?=##+ )", text, flags=re.M)[1:]:
        title = section.splitlines()[0]
        if re.search(r"random[ -](weights|checkpoints)", section, re.I):
            assert "random weights" in title, title


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_short_and_linked_from_what_it_explains(decision: Path) -> None:
    assert len(decision.read_text("utf-8").splitlines()) <= MAX_DECISION_LINES
    name = f"docs/decisions/{decision.name}"
    folders = [ROOT / folder for folder in ("s2s", "scripts", "tests", "native")]
    files = [p for folder in folders for kind in _SOURCES for p in folder.rglob(kind)]
    files.append(ROOT / "pyproject.toml")
    assert any(name in path.read_text("utf-8") for path in files), f"nothing names {name}"


def test_a_decision_that_is_named_is_there() -> None:
    there = {path.name for path in DECISIONS}
    for path in sorted((ROOT / "s2s").rglob("*.*")):
        if path.suffix in (".py", ".c", ".h"):
            named = re.findall(r"docs/decisions/([\w-]+\.md)", path.read_text("utf-8"))
            assert set(named) <= there, f"{name_of(path)} names {set(named) - there}"


def test_the_change_log_has_this_version() -> None:
    from s2s import __version__

    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(__version__)}$", text, re.M), __version__


def test_what_starts_it_with_the_system_can_be_read() -> None:
    unit = configparser.ConfigParser(delimiters="=", interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read(ROOT / "contrib" / "s2s.service", encoding="utf-8")
    assert unit["Service"]["ExecStart"].endswith("/s2s")
    assert unit["Service"]["RestartPreventExitStatus"] == "2"
    with (ROOT / "contrib" / "s2s.plist").open("rb") as file:
        agent = plistlib.load(file)
    assert agent["Label"] == "local.s2s"
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_every_document_of_this_test_is_there() -> None:
    assert len(DOCUMENTS) >= 12
