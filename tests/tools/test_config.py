"""Settings of tools."""

from __future__ import annotations

import pytest

from s2s.tools.config import McpServerConfig, ToolsConfig


def test_off_is_no_tool() -> None:
    assert ToolsConfig(use=("off",)).names == ()
    assert ToolsConfig().names == ("time", "timer", "calculator")


def test_a_server_is_a_program_or_an_address() -> None:
    McpServerConfig(command=("server",))
    McpServerConfig(url="http://localhost:1")
    for both in (McpServerConfig, lambda: McpServerConfig(("server",), "http://localhost:1")):
        with pytest.raises(ValueError, match="either a command or a url"):
            both()


@pytest.mark.parametrize(
    "wrong",
    [{"timeout_s": 0.0}, {"lead_in_s": -1.0}, {"rounds": 0}],
    ids=lambda each: next(iter(each)),
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ToolsConfig(**wrong)  # type: ignore[arg-type]
