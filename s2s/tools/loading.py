"""Finds the tools that a configuration names: built-in ones, those of installed packages, of
modules and of single files.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from s2s.tools.config import ToolsConfig
from s2s.tools.tool import Tool, tool_of
from s2s.tools.toolbox import LoadedTools, ToolSource

GROUP = "s2s.tools"
"""Entry points of packages that bring tools."""
BUILT_IN = {
    "time": "s2s.tools.builtin.wall_clock",
    "timer": "s2s.tools.builtin.timers",
    "calculator": "s2s.tools.builtin.calculator",
}
"""Name -> module. `files` is there when a folder is named."""


class ToolsUnavailable(RuntimeError):
    """A tool that was named cannot be had. The message says what to do."""


def load_tools(config: ToolsConfig) -> LoadedTools | None:
    """The tools of a configuration; None where it has none.

    Raises:
        ToolsUnavailable: one that it names is not there, or is none.
    """
    tools: list[Tool] = []
    for name in config.names:
        tools += _named(name)
    if config.folder is not None:
        from s2s.tools.builtin.files import folder_tools

        try:
            tools += folder_tools(config.folder)
        except ValueError as error:
            raise ToolsUnavailable(f"tools.folder: {error}") from error
    if not tools and not config.mcp:
        return None
    sources: list[ToolSource] = []
    if config.mcp:
        if importlib.util.find_spec("mcp") is None:
            raise ToolsUnavailable(
                f"tools.mcp names {', '.join(config.mcp)}, and the package mcp is not installed: "
                "pip install 's2s[mcp]'"
            )
        from s2s.tools.mcp.servers import McpServers

        sources.append(McpServers(config.mcp, patience_s=config.timeout_s))
    try:
        return LoadedTools(config, tools, sources)
    except ValueError as error:
        raise ToolsUnavailable(str(error)) from error


def _named(name: str) -> list[Tool]:
    """What one name of `tools.use` stands for."""
    if name in BUILT_IN:
        return list(tools_of(importlib.import_module(BUILT_IN[name])))
    installed = {each.name: each for each in entry_points(group=GROUP)}
    try:
        if name in installed:
            found = _loaded(installed[name])
        elif name.endswith(".py"):
            found = list(tools_of(_module_of(Path(name).expanduser())))
        else:
            module, _, attribute = name.partition(":")
            thing: object = importlib.import_module(module)
            found = list(tools_of(getattr(thing, attribute) if attribute else thing))
    except ModuleNotFoundError as error:
        known = ", ".join([*BUILT_IN, *installed])
        raise ToolsUnavailable(
            f"tools.use: there is no tool {name!r} ({error}). There are: {known}; or name a "
            "module, or a file that ends in .py."
        ) from error
    except Exception as error:
        raise ToolsUnavailable(f"tools.use: {name!r} cannot be loaded: {error}") from error
    if not found:
        raise ToolsUnavailable(f"tools.use: {name!r} holds no function with @tool")
    return found


def _loaded(point: EntryPoint) -> list[Tool]:
    thing: object = point.load()
    return list(tools_of(thing))


def tools_of(thing: object) -> Iterator[Tool]:
    """The tools of a module, in the order in which they are written, or the one that a function
    is."""
    if not inspect.ismodule(thing):
        tool = tool_of(thing)
        if tool is not None:
            yield tool
        return
    for value in vars(thing).values():
        tool = tool_of(value)
        if tool is not None and (isinstance(value, Tool) or value.__module__ == thing.__name__):
            yield tool


def _module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"s2s_tools_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModuleNotFoundError(f"{path} is no file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
