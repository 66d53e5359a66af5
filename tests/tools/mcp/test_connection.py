"""What is made of a server's words; the connection itself is tried in test_servers.py."""

from __future__ import annotations

import pytest

from s2s.tools.mcp.connection import reason, result_text, usable_name


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "image", "data": "AA"}]}, "(image)"),
        ({"content": [{"type": "resource", "resource": {"text": "in it"}}]}, "in it"),
        ({"content": [], "structured_content": {"on": True}}, '{"on": true}'),
        ({"content": []}, "Done."),
        ({}, "Done."),
        ("odd", "odd"),
    ],
)
def test_what_a_tool_gave_is_text(result: object, text: str) -> None:
    assert result_text(result) == text


def test_names_that_models_do_not_take_are_made_usable() -> None:
    assert usable_name("home/lamp.on") == "home_lamp_on"
    assert usable_name("x" * 99) == "x" * 64
    assert usable_name("") == "tool"


def test_of_errors_within_errors_the_innermost_is_told() -> None:
    inner = BaseExceptionGroup("two", [OSError("no such file"), ValueError("x")])
    assert reason(BaseExceptionGroup("one", [inner])) == "no such file"
    assert reason(KeyError()) == "KeyError"
