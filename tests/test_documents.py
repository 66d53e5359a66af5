"""What README and the decisions say is there: code runs, files exist, decisions are linked."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.app import cli
from s2s.config.schema import Config

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
_PATH = re.compile(r"\b(?:s2s|scripts|tests|configs|docs)/[\w./*-]*[\w/]")
_SOURCES = ("*.py", "*.c", "*.h", "*.md", "*.toml")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(
    code: str,
    tiny_qwen3: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """With a tiny checkpoint of random weights in the place of the published one."""
    monkeypatch.chdir(tmp_path)
    tiny = repr(str(tiny_qwen3("0.6b-customvoice")))
    assert '"0.6b-customvoice"' in code
    exec(compile(code.replace('"0.6b-customvoice"', tiny), "README.md", "exec"), {})


@pytest.mark.parametrize("path", sorted(set(_PATH.findall(README))))
def test_a_file_that_is_named_is_there(path: str):
    assert list(ROOT.glob(path)), f"README.md names {path}"


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_linked_from_what_it_explains(decision: Path):
    name = f"docs/decisions/{decision.name}"
    folders = [ROOT / folder for folder in ("s2s", "scripts", "tests", "native")]
    files = [p for folder in folders for kind in _SOURCES for p in folder.rglob(kind)]
    files += [ROOT / "README.md", ROOT / "pyproject.toml"]
    assert any(name in path.read_text(encoding="utf-8") for path in files), f"nothing names {name}"


def test_a_decision_that_is_named_is_there():
    there = {path.name for path in DECISIONS}
    for path in sorted((ROOT / "s2s").rglob("*.*")):
        if path.suffix in (".py", ".c", ".h"):
            named = re.findall(r"docs/decisions/([\w-]+\.md)", path.read_text(encoding="utf-8"))
            assert set(named) <= there, f"{path.relative_to(ROOT)} names {set(named) - there}"


TURN_TAKING = (ROOT / "docs" / "turn-taking.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition("  #")[0].strip()
    for block in re.findall(r"```bash\n(.*?)```", TURN_TAKING, re.S)
    for line in block.splitlines()
]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_line_is_understood_and_its_extra_is_there(line: str):
    words = shlex.split(line)
    if words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        named = re.fullmatch(r"s2s\[([\w-]+)\]", words[2])
        assert named is not None
        assert named[1] in extras["project"]["optional-dependencies"]
        return
    assert words[:3] == ["python", "-m", "s2s"]
    options = cli._parser().parse_args(cli._prepared(words[3:]))
    assert cli._config(options) != Config(), "it changes a setting"
