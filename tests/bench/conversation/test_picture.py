"""A conversation is drawn with both voices and what was decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.bench.conversation.picture import draw
from s2s.bench.conversation.script import hum, run, script

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("until_s", [5.0, 60.0])
def test_a_conversation_is_drawn_as_far_as_asked(until_s: float, tmp_path: Path) -> None:
    draw(tmp_path / "x.png", run(script(2, 0, hum), None), until_s)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
