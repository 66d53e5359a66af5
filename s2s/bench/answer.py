"""One answer in a picture: words written, sound made, sound waiting, cores busy.

Stands between a session and its models and writes down what they give and when; a thread of its own
looks at the processor and the playback buffer.
"""

# pyright: reportUnknownMemberType=false
# Matplotlib's own types leave arguments open.
from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from s2s.core.clock import SystemClock
from s2s.core.markup import Call
from s2s.records.call_notes import CallNotes
from s2s.records.noted_voice import noted_voice
from s2s.records.watched import NotedChat
from s2s.session.models import Models
from s2s.transport.playback import Playback

LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Look:
    """What there was at one moment; counts go from the start of the session."""

    at_s: float
    words: int
    made_s: float
    waiting_s: float
    """Of sound: made, and not played yet."""
    cores: float
    """That this process kept busy since the look before."""


@dataclass(slots=True)
class Diary:
    """What was written and made so far. Each count has one writer."""

    words: int = 0
    made_s: float = 0.0
    looks: list[Look] = field(default_factory=list)

    def heard_of(self) -> list[Look]:
        """The longest stretch in which sound was made or waited: one answer."""
        best: list[Look] = []
        now: list[Look] = []
        for before, look in zip(self.looks, self.looks[1:], strict=False):
            busy = look.waiting_s > 0 or look.made_s > before.made_s or look.words > before.words
            now = [*now, look] if busy else []
            best = now if len(now) > len(best) else best
        return best


class DiaryNotes(CallNotes):
    """Counts what the models of a session give, while they give it."""

    def __init__(self, diary: Diary) -> None:
        super().__init__(SystemClock(), 0.0, lambda _: None)
        self._diary = diary

    def piece(self, piece: str | Call) -> None:
        if isinstance(piece, str):
            self._diary.words += len(piece.split()) if piece[:1].isspace() else 0

    def chunk(self, seconds: float) -> None:
        self._diary.made_s += seconds


def watched(models: Models, diary: Diary) -> Models:
    """The same models, written down."""
    notes = DiaryNotes(diary)
    return replace(
        models,
        chat=NotedChat(models.chat, notes),
        synthesizer=noted_voice(models.synthesizer, models.tts_rtf, notes),
    )


class Lookout:
    """Looks again and again, in a thread of its own, from `start` to `stop`."""

    def __init__(self, diary: Diary, playback: Playback) -> None:
        self._diary = diary
        self._playback = playback
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bench-watch", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End it; idempotent."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        diary, playback = self._diary, self._playback
        before_s, used_s = time.perf_counter(), time.process_time()
        while not self._over.wait(LOOK_S):
            now_s, now_used_s = time.perf_counter(), time.process_time()
            waiting_s = max(0.0, diary.made_s - playback.played_samples / playback.rate_hz)
            cores = (now_used_s - used_s) / (now_s - before_s)
            diary.looks.append(Look(now_s, diary.words, diary.made_s, waiting_s, cores))
            before_s, used_s = now_s, now_used_s


def draw(path: Path, looks: Sequence[Look], title: str) -> None:
    """Draw one answer. Needs matplotlib.

    Raises:
        ValueError: nothing was seen of an answer.
    """
    if not looks:
        raise ValueError("no answer was made while the benchmark looked")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    at_s = [look.at_s - looks[0].at_s for look in looks]
    rows = (
        ("words written", [look.words - looks[0].words for look in looks], "tab:purple"),
        ("seconds of sound made", [look.made_s - looks[0].made_s for look in looks], "tab:blue"),
        ("seconds of sound waiting", [look.waiting_s for look in looks], "tab:green"),
        ("cores busy", [look.cores for look in looks], "tab:orange"),
    )
    figure, all_axes = pyplot.subplots(len(rows), 1, sharex=True, figsize=(9, 8))
    for axes, (label, values, colour) in zip(all_axes, rows, strict=True):
        axes.step(at_s, values, where="post", color=colour)
        axes.set(ylabel=label, ylim=(0, None))
        axes.grid(alpha=0.3)
    all_axes[0].set_title(title)
    all_axes[-1].set_xlabel("seconds")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
