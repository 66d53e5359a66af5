"""Settings of the tools that the assistant calls itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from s2s.core.setting import made_setting, setting


@dataclass(frozen=True, slots=True)
class McpServerConfig:
    """A server of tools that speaks the Model Context Protocol: a program, or an address."""

    command: tuple[str, ...] = setting(
        (), "The program and its arguments, spoken to by its standard input and output."
    )
    url: str | None = setting(None, "Where it answers, by streamable HTTP, instead of a command.")
    env: Mapping[str, str] = made_setting(
        dict[str, str], "Environment variables of the program, beside a few harmless ones of ours."
    )
    headers: Mapping[str, str] = made_setting(
        dict[str, str], "HTTP headers; $NAME in one is an environment variable of ours."
    )
    tools: tuple[str, ...] = setting((), "Which of its tools may be called; none: all.")

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError("an MCP server has either a command or a url")


@dataclass(frozen=True, slots=True)
class ToolsConfig:
    """What the assistant may do beside talking: docs/tools.md."""

    use: tuple[str, ...] = setting(
        ("time", "timer", "calculator"),
        "Which tools there are: built-in ones, names that installed packages have under the entry "
        "points `s2s.tools`, MODULE, MODULE:NAME or FILE.py; off: none.",
    )
    folder: Path | None = setting(
        None, "The files in this folder may be listed and read aloud; none: no file is."
    )
    mcp: Mapping[str, McpServerConfig] = made_setting(
        dict[str, McpServerConfig],
        "Servers of tools, by a name of your own: {home: {command: [home-mcp, --quiet]}}.",
    )
    timeout_s: float = setting(
        10.0, "A call that takes longer has failed, which the model is told."
    )
    lead_in_s: float = setting(
        1.0, 'Behind so long a call "One moment." is said, once for each answer; 0: never.'
    )
    rounds: int = setting(4, "How often the model may call tools for one answer.")
    calling: Literal["auto", "model", "chosen"] = setting(
        "auto",
        "Who writes calls. model: the language model, as it was trained to. chosen: the embedded "
        "model is held to a choice among the tools and to the person's own words. auto: chosen "
        "where its template knows no tools.",
    )
    clients: Literal["off", "told", "untold"] = setting(
        "off",
        "Whether clients of `serve` have these tools beside their own. told: they see calls as "
        "items `mcp_call`, which ends the sessions of some; untold: they hear the answer alone.",
    )

    def __post_init__(self) -> None:
        if self.timeout_s <= 0:
            raise ValueError(f"timeout_s must be positive, got {self.timeout_s}")
        if self.lead_in_s < 0:
            raise ValueError(f"lead_in_s must not be negative, got {self.lead_in_s}")
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}")

    @property
    def names(self) -> tuple[str, ...]:
        """The tools of `use`; none for "off"."""
        return tuple(name for name in self.use if name not in ("off", "none"))
