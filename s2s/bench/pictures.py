"""Pictures of measurements. They need matplotlib."""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from s2s.bench.synthesis import Arrivals

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_arrivals(path: Path, runs: list[Arrivals], title: str) -> None:
    """Chunks against playback: what was there at each moment, one line a run, and the playback
    that the median run could just keep supplied."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    for number, run in enumerate(runs):
        moments, amounts = zip(*run.heard_until(), strict=True)
        label = "audio made" if number == 0 else None
        axes.step(moments, amounts, where="post", color="tab:blue", alpha=0.5, label=label)
    median = sorted(runs, key=lambda run: run.uninterrupted_start_s)[len(runs) // 2]
    start_s = median.uninterrupted_start_s
    axes.plot(
        [start_s, start_s + median.audio_s],
        [0, median.audio_s],
        color="tab:orange",
        label=f"played, from {1000 * start_s:.0f} ms on (median run)",
    )
    axes.set(xlabel="seconds since the call", ylabel="seconds of audio", title=title)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def draw_soak(
    path: Path,
    minutes: list[float],
    lines: dict[str, list[float]],
    moved: list[tuple[float, str, float]],
    title: str,
) -> None:
    """Several measures over time, one below the other, each point one utterance; and when a part
    was moved."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(lines), 1, figsize=(8, 2.2 * len(lines)), sharex=True)
    for number, (axis, (label, values)) in enumerate(zip(axes, lines.items(), strict=True)):
        _line(axis, minutes, values, label, f"C{number}")
        for minute, what, _ in moved:
            axis.axvline(minute, color="gray", linestyle=":")
            if not number:
                axis.annotate(what, (minute, 0), rotation=90, fontsize=8)
    axes[0].set(title=title)
    axes[-1].set(xlabel="minutes")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _line(axes: Axes, x: list[float], y: list[float], label: str, color: str) -> None:
    axes.plot(x, y, color=color)
    axes.set(ylabel=label, ylim=(0, 1.1 * max(*y, 1.0)))
    if label.startswith("real-time"):
        axes.axhline(1.0, color="tab:orange", linewidth=1)
