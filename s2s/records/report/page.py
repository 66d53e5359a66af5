"""The page of a conversation: one HTML file that needs nothing from outside.

What was said is shown as it is and never read as HTML, script or style: every text goes through
`html.escape`, or as JSON into the page's script, which puts it in as text.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from s2s.core.metrics import Point, Timeline
from s2s.records import files
from s2s.records.folder import SessionRecord, read_record
from s2s.records.report.levels import Levels, as_text, levels, step_s_for
from s2s.records.report.parts import dropped_section, legend, turn_items
from s2s.records.stages import STAGES, stages_of, typical
from s2s.records.story import GivenAnswer, SaidTurn, Story

INLINE_BYTES = 2 << 20
"""A sound file of up to half a minute goes into the page; a longer one lies beside it."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "media-src 'self' file: data:; img-src data:; base-uri 'none'; form-action 'none'"
)
"""The page reaches nothing: its own style and script, and the sound beside it."""


@dataclass(frozen=True, slots=True)
class DrawnTrack:
    """A conversation as it is drawn."""

    name: str
    """"" where there is only one."""
    story: Story
    person: Levels
    assistant: Levels


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page shows."""

    title: str
    facts: Sequence[tuple[str, str]]
    tracks: Sequence[DrawnTrack]
    """All on one clock."""
    step_s: float
    """Of the tracks' levels."""
    duration_s: float
    sound: str | None = None
    """Its address, as seen from the page."""
    sections: str = ""
    """HTML between the picture and the turns."""
    settings: str = ""
    """As YAML."""


def write_page(folder: Path) -> Path:
    """Write the page of a record into its folder; returns its path.

    Raises:
        RecordError: it is no record.
        OSError: it cannot be written.
    """
    record = read_record(folder)
    content = content_of(record)
    return write_text(folder / files.REPORT, page(content))


def write_text(path: Path, text: str) -> Path:
    """Write a file that is its owner's alone, whole or not at all."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    part.replace(path)
    return path


def content_of(record: SessionRecord) -> PageContent:
    """What the page of a record shows."""
    step_s = step_s_for(record.duration_s)
    person, assistant = levels(record.sound(), step_s)
    story = record.story
    began = str(record.about.get("began", ""))[:19].replace("T", " ")
    settings = record.folder / files.SETTINGS
    return PageContent(
        f"Conversation of {began} UTC",
        facts_of(story, record.timelines, record.duration_s),
        [DrawnTrack("", story, person, assistant)],
        step_s,
        record.duration_s,
        sound_address(record.folder / files.SOUND),
        settings=settings.read_text(encoding="utf-8") if settings.is_file() else "",
    )


def facts_of(
    story: Story, timelines: Sequence[Timeline], duration_s: float
) -> list[tuple[str, str]]:
    """The conversation in a line."""
    latency = typical(timeline for timeline in timelines if timeline.taken_back_s is None)
    cut = sum(answer.status == "cancelled" for answer in story.answers)
    unanswered = sum(bool(turn.unanswered) for turn in story.turns)
    facts = [
        ("length", f"{int(duration_s) // 60}:{int(duration_s) % 60:02} min"),
        ("turns", str(len(story.turns))),
        ("answers", str(len(story.answers))),
        ("interrupted", str(cut)),
        ("not answered", str(unanswered)),
    ]
    if latency is not None:
        facts.append(("first sound after", f"{latency[0]:.0f} ms (p95 {latency[1]:.0f} ms)"))
    return facts


def sound_address(path: Path) -> str | None:
    """The sound of a record for its page: itself where it is small, else its name."""
    if not path.is_file():
        return None
    if path.stat().st_size > INLINE_BYTES:
        return path.name
    return "data:audio/wav;base64," + base64.b64encode(path.read_bytes()).decode("ascii")


def page(content: PageContent) -> str:
    """The page as HTML."""
    title = escape(content.title)
    facts = "".join(
        f"<li><span class=faint>{escape(name)}</span> <b>{escape(value)}</b></li>"
        for name, value in content.facts
    )
    sound = "" if content.sound is None else _audio(content.sound)
    story = content.tracks[-1].story
    settings = ""
    if content.settings:
        settings = (
            "<h2>Settings</h2><details><summary>All settings of this session</summary>"
            f"<pre>{escape(content.settings)}</pre></details>"
        )
    points: list[Point] = [point for point in STAGES if _is_used(point, content.tracks)]
    parts = {
        "title": title,
        "policy": POLICY,
        "style": _file("page.css"),
        "script": _file("page.js"),
        "facts": facts,
        "sound": sound,
        "sections": content.sections,
        "heading": "Turns, and where the time went" + (" now" if len(content.tracks) > 1 else ""),
        "legend": legend(points),
        "turns": "".join(turn_items(story)),
        "dropped": dropped_section(story),
        "settings": settings,
        "data": _json(_data(content)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def _audio(address: str) -> str:
    return f'<audio controls preload="metadata" src="{escape(address)}"></audio>'


def _is_used(point: Point, tracks: Sequence[DrawnTrack]) -> bool:
    timelines = [answer.timeline for track in tracks for answer in track.story.answers]
    stages = [stages_of(timeline) for timeline in timelines if timeline is not None]
    return any(stage.point == point for each in stages for stage in each)


def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _json(value: object) -> str:
    """JSON that ends no script: `<` is written as an escape, and so are the line ends of old
    JavaScript."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _data(content: PageContent) -> dict[str, object]:
    return {
        "duration_s": max(content.duration_s, 0.1),
        "bin_s": content.step_s,
        "tracks": [_track(track) for track in content.tracks],
    }


def _track(track: DrawnTrack) -> dict[str, object]:
    return {
        "name": track.name,
        "marks": [
            {"at_s": mark.at_s, "text": mark.text, "detail": mark.detail}
            for mark in track.story.marks
        ],
        "voices": [
            _voice("person", "you", track.person, _said(track.story.turns)),
            _voice("assistant", "assistant", track.assistant, _answered(track.story.answers)),
        ],
    }


def _voice(
    kind: str, name: str, heights: Levels, labels: Iterable[tuple[float, float, str]]
) -> dict[str, object]:
    found = [
        {"at_s": round(at_s, 3), "to_s": round(to_s, 3), "text": " ".join(text.split())}
        for at_s, to_s, text in labels
        if text.strip()
    ]
    return {"kind": kind, "name": name, "levels": as_text(heights), "labels": found}


def _said(turns: Iterable[SaidTurn]) -> Iterator[tuple[float, float, str]]:
    for turn in turns:
        yield turn.began_s, turn.ended_s, turn.text


def _answered(answers: Iterable[GivenAnswer]) -> Iterator[tuple[float, float, str]]:
    for answer in answers:
        words = answer.played or answer.text
        yield answer.began_s, answer.ended_s or answer.began_s, words
