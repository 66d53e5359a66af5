"""The page of a conversation: one file, nothing from outside, no text is ever taken for markup."""

from __future__ import annotations

import json
import re
import stat
import sys
from html.parser import HTMLParser
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.messages import ResponseId
from s2s.records import files
from s2s.records.folder import read_record
from s2s.records.report import page as pages
from s2s.records.report.page import DrawnTrack, PageContent, content_of, page, write_page
from s2s.records.story import GivenAnswer, Mark, SaidTurn, Story
from s2s.testing.simulator import Simulation

HOSTILE = st.one_of(
    st.text(),
    st.sampled_from(
        [
            "</script><script>alert(1)</script>", "<!--", "-->", "<img src=x onerror=alert(1)>",
            '" onmouseover="alert(1)', "{{turns}}", "&lt;b&gt;", "\u2028</style>", "\ud800", "\x00",
        ]
    ),
)  # fmt: skip


class Parsed(HTMLParser):
    """Tags and their attributes, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.shown = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        else:
            self.shown += data


def content(words: str, *, more: str = "") -> PageContent:
    response = ResponseId("a", 0, 0, None)
    story = Story(
        [SaidTurn("a", [(0.5, 1.0)], words, more)],
        [GivenAnswer(response, 1.5, 2.0, words, words, "failed", words)],
        [Mark(1.0, "dropped", words, words)],
    )
    track = DrawnTrack(words, story, np.zeros(9, np.uint8), np.zeros(9, np.uint8))
    return PageContent(words, [(words, words)], [track], 0.02, 3.0, settings=words)


@hypothesis.settings(max_examples=40)
@given(HOSTILE, HOSTILE)
def test_no_text_is_taken_for_markup(words: str, more: str) -> None:
    plain, hostile = Parsed(page(content("x", more="y"))), Parsed(page(content(words, more=more)))
    assert set(hostile.tags) <= {*plain.tags, "p", "span"}
    assert hostile.tags.count("script") == 2
    assert hostile.tags.count("b") == plain.tags.count("b")
    assert not any(name.startswith("on") for name in hostile.attributes)
    data = json.loads(hostile.scripts[0])
    shown = " ".join(words.split()).encode("utf-8", "replace").decode()
    assert data["tracks"][0]["name"] == words.encode("utf-8", "replace").decode()
    found = [label["text"] for label in data["tracks"][0]["voices"][0]["labels"]]
    assert found == ([shown] if words.strip() else [])
    assert hostile.scripts[1] == plain.scripts[1], "the script is ours"


def test_nothing_comes_from_outside(own_record: Path) -> None:
    text = write_page(own_record).read_text(encoding="utf-8")
    assert not re.search(r"https?://|//\w+\.\w+|@import|url\(", text)
    assert "default-src 'none'" in text
    parsed = Parsed(text)
    assert not {"iframe", "object", "embed", "img"} & set(parsed.tags)


def test_the_page_of_a_record(own_record: Path, held: tuple[Path, Simulation]) -> None:
    folder, (_, simulation) = own_record, held
    path = write_page(folder)
    text = path.read_text(encoding="utf-8")
    assert path.name == files.REPORT
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for said in simulation.said:
        assert said.text in text
    for stage in ("words written down", "turn found to be over", "first sound of the voice"):
        assert stage in text
    assert "cancelled" in text
    assert "data:audio/wav;base64," in text, "half a minute goes into the page"
    assert "All settings of this session" in text
    again = write_page(folder).read_text(encoding="utf-8")
    assert again == text, "it can be written again"


def test_a_long_conversation_lies_beside_its_page(
    own_record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own_record
    monkeypatch.setattr(pages, "INLINE_BYTES", 1000)
    assert content_of(read_record(folder)).sound == files.SOUND
    (folder / files.SOUND).unlink()
    assert content_of(read_record(folder)).sound is None
    assert "<audio" not in write_page(folder).read_text(encoding="utf-8")
