"""A conversation is drawn with both voices, their words, what was decided, and where time went."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from s2s.bench.conversation import picture
from s2s.bench.conversation.picture import draw
from s2s.bench.conversation.script import hum, run, script
from s2s.testing.simulator import Simulation

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def talk() -> Simulation:
    return run(script(4, 0, hum), None)


def drawn(
    talk: Simulation, path: Path, until_s: float, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Any]:
    """The figure, and what measures its texts."""
    from matplotlib import pyplot

    figures: list[Any] = []
    monkeypatch.setattr(pyplot, "close", figures.append)
    draw(path, talk, until_s)
    monkeypatch.undo()
    (figure,) = figures
    return figure, figure.canvas.get_renderer()


def overlaps(one: Any, other: Any) -> bool:
    apart = one.x1 <= other.x0 + 0.5 or other.x1 <= one.x0 + 0.5
    return not (apart or one.y1 <= other.y0 + 0.5 or other.y1 <= one.y0 + 0.5)


@pytest.mark.parametrize("until_s", [5.0, 60.0])
def test_no_words_lie_over_each_other(
    talk: Simulation, until_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib import pyplot

    figure, renderer = drawn(talk, tmp_path / "x.png", until_s, monkeypatch)
    try:
        for axes in figure.axes:
            texts = [each for each in axes.texts if each.get_text()]
            boxes = [each.get_window_extent(renderer) for each in texts]
            legend = axes.get_legend()
            if legend is not None:
                boxes += [each.get_window_extent(renderer) for each in legend.get_texts()]
            for (a, one), (b, other) in itertools.combinations(enumerate(boxes), 2):
                assert not overlaps(one, other), (texts[a].get_text(), texts[b].get_text())
            whole = figure.get_window_extent(renderer)
            assert all(box.x0 >= 0 and box.x1 <= whole.x1 + 1 for box in boxes)
    finally:
        pyplot.close(figure)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_it_has_the_words_the_decisions_and_a_legend(
    talk: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib import pyplot

    figure, _ = drawn(talk, tmp_path / "x.png", 60.0, monkeypatch)
    words = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    legend = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    pyplot.close(figure)
    assert "what is the" in words
    assert "That is a good question." in words
    assert "duck" in words
    assert "words written down" in legend
    assert "first sound of the voice" in legend


def test_as_a_drawing_and_as_a_page(talk: Simulation, tmp_path: Path) -> None:
    draw(tmp_path / "x.svg", talk, 5.0)
    assert "<svg" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    draw(tmp_path / "x.html", talk, 5.0)
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "That is a good question." in text


def test_a_conversation_in_which_nothing_is_said_is_drawn(tmp_path: Path) -> None:
    draw(tmp_path / "x.png", Simulation([]).run())
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_every_stage_has_a_colour() -> None:
    assert list(picture.COLOURS) == list(picture.STAGES)
