"""Settings of tools."""

from __future__ import annotations

import pytest

from s2s.tools.config import ToolsConfig


def test_off_is_no_tool() -> None:
    assert ToolsConfig(use=("off",)).names == ()
    assert ToolsConfig().names == ("time", "timer", "calculator")


@pytest.mark.parametrize(
    "wrong",
    [{"timeout_s": 0.0}, {"lead_in_s": -1.0}, {"rounds": 0}],
    ids=lambda each: next(iter(each)),
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ToolsConfig(**wrong)  # type: ignore[arg-type]
