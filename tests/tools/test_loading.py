"""Tools by the names that a configuration gives them."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from s2s.core.clock import ManualClock
from s2s.tools import loading
from s2s.tools.config import McpServerConfig, ToolsConfig
from s2s.tools.loading import ToolsUnavailable, load_tools

SOURCE = '''
from s2s.tools import tool
from s2s.tools.builtin.calculator import calculate

@tool
def greet(name: str) -> str:
    """Greets.

    Args:
        name: whom.
    """
    return f"Hello {name}."

@tool
def wave() -> str:
    """Waves."""
    return "Waves."

def private() -> None: ...
'''


def names(config: ToolsConfig) -> list[str]:
    found = load_tools(config)
    assert found is not None
    return [schema.name for schema in found.open(ManualClock()).schemas]


def test_what_comes_with_the_program() -> None:
    assert names(ToolsConfig()) == [
        "current_time", "set_timer", "list_timers", "cancel_timer", "calculate",
    ]  # fmt: skip
    assert names(ToolsConfig(use=("time",))) == ["current_time"]


def test_off_is_nothing_at_all() -> None:
    assert load_tools(ToolsConfig(use=("off",))) is None


def test_a_folder_that_is_named_can_be_read(tmp_path: Path) -> None:
    assert names(ToolsConfig(use=(), folder=tmp_path)) == ["list_files", "read_file"]
    with pytest.raises(ToolsUnavailable, match=r"tools\.folder: .*nowhere is no folder"):
        load_tools(ToolsConfig(folder=tmp_path / "nowhere"))


def test_tools_of_a_file_and_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_greetings.py").write_text(SOURCE, encoding="utf-8")
    assert names(ToolsConfig(use=(str(tmp_path / "my_greetings.py"),))) == ["greet", "wave"]
    monkeypatch.syspath_prepend(str(tmp_path))
    assert names(ToolsConfig(use=("my_greetings",))) == ["greet", "wave"]
    assert names(ToolsConfig(use=("time", "my_greetings:wave"))) == ["current_time", "wave"]
    sys.modules.pop("my_greetings")


def test_tools_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_greetings.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("greetings", "their_greetings", loading.GROUP)
    monkeypatch.setattr(loading, "entry_points", lambda group: [point])
    assert names(ToolsConfig(use=("greetings",))) == ["greet", "wave"]
    assert names(ToolsConfig()) == names(ToolsConfig(use=("time", "timer", "calculator")))
    sys.modules.pop("their_greetings")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("clok", "there is no tool 'clok'.*There are: time, timer, calculator"),
        ("nowhere.py", "there is no tool 'nowhere.py'"),
        ("json", "'json' holds no function with @tool"),
        ("json:dumps", "'json:dumps' holds no function with @tool"),
        ("json:nothing", "'json:nothing' cannot be loaded"),
    ],
)
def test_what_is_not_there_is_told_with_what_there_is(name: str, why: str) -> None:
    with pytest.raises(ToolsUnavailable, match=why):
        load_tools(ToolsConfig(use=(name,)))


def test_two_of_one_name_are_told() -> None:
    with pytest.raises(ToolsUnavailable, match="two tools of the name current_time"):
        load_tools(ToolsConfig(use=("time", "time")))


def test_servers_need_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda name: None)
    server = McpServerConfig(command=("server",))
    with pytest.raises(ToolsUnavailable, match=r"pip install 's2s\[mcp\]'"):
        load_tools(ToolsConfig(mcp={"home": server}))
