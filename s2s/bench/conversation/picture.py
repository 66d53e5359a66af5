"""A picture of a conversation: both voices, and what was decided when."""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from s2s.core.audio import PIPELINE_HZ
from s2s.core.events import AnswerText, Event, Interruption, ResponseDone
from s2s.testing.simulator import SYNTH_HZ, Simulation


def draw(path: Path, simulation: Simulation, until_s: float = 30.0) -> None:
    """Draw the beginning of the conversation: both voices, and what was decided when."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (person, assistant) = pyplot.subplots(2, 1, sharex=True, figsize=(14, 4.5))
    for axes, samples, rate_hz, title in (
        (person, simulation.transport.person(), PIPELINE_HZ, "person"),
        (assistant, simulation.transport.assistant(), SYNTH_HZ, "assistant"),
    ):
        step = rate_hz // 100
        usable = len(samples) // step * step
        level = np.abs(samples[:usable]).reshape(-1, step).max(axis=1)
        at_s = np.arange(len(level)) / 100
        axes.fill_between(at_s, -level, level, linewidth=0)
        axes.set_ylabel(title)
        axes.set_xlim(0, until_s)
        axes.set_yticks([])
    for at_s, label, colour in _labels(simulation.events):
        if at_s <= until_s:
            assistant.axvline(at_s, color=colour, linewidth=0.8)
            assistant.annotate(label, (at_s, 0.0), rotation=90, fontsize=7, color=colour)
    assistant.set_xlabel("seconds")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _labels(events: Sequence[tuple[float, Event]]) -> Iterator[tuple[float, str, str]]:
    for at_s, event in events:
        match event:
            case Interruption(action=action):
                yield at_s, action, "tab:red"
            case ResponseDone(status=status):
                yield at_s, status, "tab:green"
            case AnswerText():
                yield at_s, "says", "tab:gray"
            case _:
                pass
