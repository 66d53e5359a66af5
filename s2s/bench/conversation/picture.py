"""A picture of a conversation: both voices, their words, what was decided when, where time went."""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.metrics import Point, Timeline
from s2s.records.report.layout import SpokenWords, placed, rows_of
from s2s.records.report.levels import STEP_S, levels_of
from s2s.records.report.page import DrawnTrack, PageContent, facts_of, page
from s2s.records.stages import STAGES, stages_of
from s2s.records.story import Story, told
from s2s.testing.simulator import SYNTH_HZ, Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_S = 10.0
WIDTH_INCHES = 14.0
DPI = 110
FONT = 7.5
CHAR_PX = FONT * DPI / 72 * 0.62
"""Of matplotlib's font, whose widest usual letters are about as wide."""
LINE = 0.24
"""Height of a line of words, in the units of a row."""
PERSON_AT, ASSISTANT_AT, TOP = 2.85, 1.2, 3.6
"""Heights in a row: of the middle of each voice, and of all."""
PERSON, ASSISTANT, MARK = "tab:blue", "tab:green", "tab:red"
COLOURS: dict[Point, str] = {
    "endpoint": "tab:purple",
    "transcript": "tab:blue",
    "first_token": "tab:brown",
    "first_sentence": "tab:orange",
    "first_audio": "tab:green",
    "provisional": "silver",
    "committed": "tab:gray",
    "first_played": "tab:pink",
}


@dataclass(frozen=True, slots=True)
class _Voice:
    """One lane of a row."""

    name: str
    colour: str
    samples: Block
    rate_hz: int
    middle: float
    """Its height in the row."""
    words: Sequence[SpokenWords]


def draw(path: Path, simulation: Simulation, until_s: float = 30.0) -> None:
    """Draw the beginning of a conversation; all of it where the name ends with .html.

    Args:
        path: .png or .svg, or .html for the page that a record has.
    """
    timelines = [*simulation.metrics.finished(), *simulation.metrics.starts_taken_back()]
    story = told(simulation.events, timelines)
    if path.suffix.lower() == ".html":
        path.write_text(page(_page_of(simulation, story, timelines)), encoding="utf-8")
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = rows_of(min(until_s, simulation.clock.now()), ROW_S)
    answered = [a for a in story.answers if a.timeline is not None and stages_of(a.timeline)]
    shown = [answer for answer in answered if answer.began_s < rows[-1][1]]
    heights = [*[2.4] * len(rows), 0.5 + 0.25 * max(1, len(shown))]
    figure, all_axes = pyplot.subplots(
        len(heights),
        1,
        figsize=(WIDTH_INCHES, sum(heights)),
        dpi=DPI,
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    figure.get_layout_engine().set(h_pad=0.06)  # type: ignore[union-attr]
    axes: list[Axes] = list(all_axes[:, 0])
    voices = _voices(simulation, story)
    for row, window_s in zip(axes, rows, strict=False):
        _draw_row(row, voices, story, window_s)
    figure.draw_without_rendering()  # so that it is known how wide a row is
    for row, window_s in zip(axes, rows, strict=False):
        _draw_words(row, voices, story, window_s)
    _draw_stages(axes[-1], [(a.began_s, a.timeline) for a in shown if a.timeline is not None])
    figure.savefig(path)
    pyplot.close(figure)


def _voices(simulation: Simulation, story: Story) -> list[_Voice]:
    said = [SpokenWords(turn.began_s, turn.ended_s, turn.text) for turn in story.turns]
    answered = [
        SpokenWords(answer.began_s, answer.ended_s or answer.began_s, answer.played or answer.text)
        for answer in story.answers
    ]
    transport = simulation.transport
    return [
        _Voice("person", PERSON, transport.person(), PIPELINE_HZ, PERSON_AT, said),
        _Voice("assistant", ASSISTANT, transport.assistant(), SYNTH_HZ, ASSISTANT_AT, answered),
    ]


def _draw_row(
    axes: Axes, voices: Sequence[_Voice], story: Story, window_s: tuple[float, float]
) -> None:
    """The sound of both voices, and lines where something was decided."""
    from_s, to_s = window_s
    for voice in voices:
        heights = _heights(voice, from_s, to_s)
        at_s = from_s + np.arange(len(heights)) * STEP_S
        low, high = voice.middle - heights, voice.middle + heights
        axes.fill_between(at_s, low, high, linewidth=0, color=voice.colour)
        axes.axhline(voice.middle, color=voice.colour, linewidth=0.5)
    for mark in story.marks:
        if from_s <= mark.at_s < to_s:
            for voice in voices:
                low, high = voice.middle - 0.35, voice.middle + 0.4
                axes.vlines(mark.at_s, low, high, color=MARK, linewidth=0.8)
    axes.set(xlim=window_s, ylim=(0, TOP), yticks=[voice.middle for voice in voices])
    axes.set_yticklabels([voice.name for voice in voices])
    axes.tick_params(labelsize=FONT + 0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _heights(voice: _Voice, from_s: float, to_s: float) -> npt.NDArray[np.float64]:
    """Half the height of a voice at each step, so that the loudest of all is 0.35."""
    levels = levels_of(voice.samples, voice.rate_hz, STEP_S)
    return levels[round(from_s / STEP_S) : round(to_s / STEP_S)] / 255 * 0.35


def _draw_words(
    axes: Axes, voices: Sequence[_Voice], story: Story, window_s: tuple[float, float]
) -> None:
    """The words under each voice, and what was decided above both."""
    width_px = axes.get_window_extent().width
    px_per_s = width_px / (window_s[1] - window_s[0])
    lanes = [(voice.words, voice.middle - 0.42, 3, voice.colour) for voice in voices]
    marks = [SpokenWords(mark.at_s, mark.at_s, mark.text) for mark in story.marks]
    lanes.append((marks, TOP, 1, MARK))
    for words, top, most_lines, colour in lanes:
        for each in placed(words, window_s, width_px, char_px=CHAR_PX, most_lines=most_lines):
            left_s = window_s[0] + each.left_px / px_per_s
            for number, line in enumerate(each.lines):
                at = (left_s, top - number * LINE)
                axes.annotate(line, at, fontsize=FONT, color=colour, va="top", ha="left")


def _draw_stages(axes: Axes, answers: Sequence[tuple[float, Timeline]]) -> None:
    """A bar for each answer: where the time from the end of speech to its first sound went."""
    labelled: set[Point] = set()
    for number, (_, timeline) in enumerate(answers):
        before_ms = 0.0
        for stage in stages_of(timeline):
            label = None if stage.point in labelled else STAGES[stage.point]
            labelled.add(stage.point)
            colour = COLOURS[stage.point]
            axes.barh(number, stage.ms, left=before_ms, color=colour, label=label, height=0.7)
            before_ms += stage.ms
    axes.set_yticks(range(len(answers)), [f"{at_s:.1f} s" for at_s, _ in answers])
    axes.invert_yaxis()
    axes.set_xlabel("ms from the end of speech to the first sound", fontsize=FONT + 1)
    axes.set_ylabel("answer at", fontsize=FONT + 1)
    axes.tick_params(labelsize=FONT + 0.5)
    axes.spines[["top", "right"]].set_visible(False)
    if labelled:
        axes.legend(fontsize=FONT, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _page_of(simulation: Simulation, story: Story, timelines: Sequence[Timeline]) -> PageContent:
    transport, duration_s = simulation.transport, simulation.clock.now()
    track = DrawnTrack(
        "",
        story,
        levels_of(transport.person(), PIPELINE_HZ, STEP_S),
        levels_of(transport.assistant(), SYNTH_HZ, STEP_S),
    )
    facts = facts_of(story, timelines, duration_s)
    return PageContent("A conversation in simulated time", facts, [track], STEP_S, duration_s)
