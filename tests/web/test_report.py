"""The page of a record in Debian's Chromium: at three widths, light and dark, of a minute and of an
hour, with words that are meant to break it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from s2s.app.replaying import differences_page
from s2s.core.messages import ResponseId, TurnId
from s2s.core.metrics import Timeline
from s2s.records.folder import read_record
from s2s.records.replay.held import HeldAgain
from s2s.records.report.page import DrawnTrack, PageContent, page, write_page, write_text
from s2s.records.settings import read
from s2s.records.story import GivenAnswer, Mark, SaidTurn, Story
from tests.support.browser import Browsers
from tests.support.records import recorded

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

SIZES = [(360, 740), (800, 900), (1600, 1000)]
HOSTILE = '</script><img src=x onerror="alert(1)">' + "W" * 300

OVERLAPS = """
() => {
  const shown = [...document.querySelectorAll(".label, .turn > *, .legend li, .facts li")];
  const boxes = shown.map((each) => [each, each.getBoundingClientRect()]);
  const visible = boxes.filter(([, box]) => box.width > 1 && box.height > 1);
  const found = [];
  for (let i = 0; i < visible.length; i++) {
    for (let j = i + 1; j < visible.length; j++) {
      const [one, a] = visible[i];
      const [other, b] = visible[j];
      if (one.contains(other) || other.contains(one)) continue;
      if (one.closest(".view") !== other.closest(".view")) continue;
      const apart = a.right <= b.left + 0.5 || b.right <= a.left + 0.5 ||
        a.bottom <= b.top + 0.5 || b.bottom <= a.top + 0.5;
      if (!apart) found.push(`${one.textContent.slice(0, 30)} | ${other.textContent.slice(0, 30)}`);
    }
  }
  return found;
}
"""
PLAYED_ON = """() => new Promise((done) => {
  const audio = document.querySelector("audio");
  const from_s = audio.currentTime;
  audio.ontimeupdate = () => audio.currentTime > from_s + 0.2 && done();
  audio.play();
})"""
LENGTH = """() => new Promise((done) => {
  const audio = document.querySelector("audio");
  if (audio.readyState) done(audio.duration);
  audio.onloadedmetadata = () => done(audio.duration);
  audio.onerror = () => done(-1);
})"""
"""Functions: the page's policy allows no text to be run."""
WIDER = """() => {
  const width = document.documentElement.clientWidth;
  return [...document.querySelectorAll("main *")]
    .filter((each) => !each.closest(".view") && !each.closest("pre") && !each.matches(".wide"))
    .filter((each) => each.getBoundingClientRect().right > width + 1)
    .map((each) => each.className || each.tagName);
}"""


def opened(
    browsers: Browsers,
    path: Path,
    size: tuple[int, int],
    colours: Literal["light", "dark"] = "light",
) -> tuple[Page, list[str]]:
    """The page, and what the browser complained of."""
    complaints: list[str] = []
    page = browsers.open("about:blank", size=size, colours=colours)
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: complaints.extend(_outside(request.url)))
    page.goto(path.as_uri())
    return page, complaints


def _outside(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:")) else [url]


def looks_well(page: Page, complaints: list[str]) -> None:
    """Nothing overlaps, nothing is wider than the window, nothing was complained of."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.evaluate(WIDER)
    assert page.evaluate(WIDER) == []
    assert page.evaluate(OVERLAPS) == []
    assert complaints == []


def an_hour() -> PageContent:
    """Three hundred turns, some interrupted, some dropped, with hostile words among them."""
    rng = np.random.default_rng(3)
    story = Story()
    for number in range(300):
        at_s = 12.0 * number
        turn = TurnId(f"s1-{number}", 0)
        words = HOSTILE if number % 50 == 7 else f"question {number} about the weather in London"
        said = SaidTurn(turn.turn_id, [(at_s + 1, at_s + 3)], words)
        story.turns.append(said)
        if number % 9 == 4:
            said.unanswered = "another voice"
            story.marks.append(Mark(at_s + 3.2, "dropped", "not answered", "another voice"))
            continue
        marks = {
            "speech_stopped": at_s + 3, "transcript": at_s + 3.1, "first_token": at_s + 3.2,
            "first_audio": at_s + 3.3 + rng.random() / 2, "endpoint": at_s + 3.4,
            "first_played": at_s + 4,
        }  # fmt: skip
        answer = f"Answer {number}. It rains there, and it will rain tomorrow as well."
        cut = number % 7 == 3
        story.answers.append(
            GivenAnswer(
                ResponseId(turn.turn_id, 0, 0, None), at_s + 4, at_s + 9, answer,
                answer[:20] if cut else answer, "cancelled" if cut else "completed", "",
                Timeline(turn, marks),  # type: ignore[arg-type]
            )
        )  # fmt: skip
        if cut:
            story.marks += [
                Mark(at_s + 8.0, "interruption", "duck", ""),
                Mark(at_s + 8.3, "interruption", "cancel", "words"),
            ]
    levels = rng.integers(0, 255, (2, 180_000)).astype(np.uint8)
    facts = [("length", "60:00 min"), ("turns", "300"), ("first sound after", "1000 ms")]
    track = DrawnTrack("", story, levels[0], levels[1])
    return PageContent(
        "An hour", facts, [track], 0.02, 3600.0, settings="session:\n  x: " + HOSTILE
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_record_is_readable_at_any_width(
    browsers: Browsers, tmp_path: Path, size: tuple[int, int], colours: Literal["light", "dark"]
) -> None:
    folder, simulation = recorded(tmp_path)
    page, complaints = opened(browsers, write_page(folder), size, colours)
    looks_well(page, complaints)
    labels = " ".join(page.locator(".label").all_text_contents())
    assert simulation.said[0].text in labels
    assert page.locator(".turn").count() == 4
    assert page.evaluate(LENGTH) == pytest.approx(read_record(folder).samples / 16_000, abs=0.1)
    page.screenshot(path=tmp_path / "page.png", full_page=True)


@pytest.mark.parametrize("size", SIZES)
def test_an_hour_is_readable_at_any_width(
    browsers: Browsers, tmp_path: Path, size: tuple[int, int]
) -> None:
    path = write_text(tmp_path / "hour.html", page(an_hour()))
    shown, complaints = opened(browsers, path, size)
    looks_well(shown, complaints)
    shown.get_by_role("button", name="all").click()
    looks_well(shown, complaints)
    for _ in range(8):
        shown.get_by_role("button", name="show less time").click()
        looks_well(shown, complaints)
    shown.locator(".scroller").evaluate("each => (each.scrollLeft = each.scrollWidth / 2)")
    shown.wait_for_timeout(100)
    looks_well(shown, complaints)
    assert shown.locator(".label").count() > 0


def test_one_goes_to_a_turn_and_hears_it(browsers: Browsers, tmp_path: Path) -> None:
    folder, _ = recorded(tmp_path)
    page, complaints = opened(browsers, write_page(folder), (800, 900))
    last = page.locator(".when").last
    last.click()
    at_s = float(last.get_attribute("data-at") or "0")
    assert page.evaluate("document.querySelector('audio').currentTime") == pytest.approx(
        at_s, abs=0.1
    )
    cursor = page.locator(".cursor").bounding_box()
    assert cursor is not None
    assert 0 <= cursor["x"] <= 800
    page.evaluate(PLAYED_ON)
    looks_well(page, complaints)


def test_sound_that_lies_beside_the_page_is_played(
    browsers: Browsers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from s2s.records.report import page as pages

    monkeypatch.setattr(pages, "INLINE_BYTES", 0)
    folder, _ = recorded(tmp_path)
    page, complaints = opened(browsers, write_page(folder), (800, 900))
    assert page.evaluate(LENGTH) > 5
    looks_well(page, complaints)


@pytest.mark.parametrize("size", SIZES)
def test_two_conversations_are_readable_at_any_width(
    browsers: Browsers, tmp_path: Path, size: tuple[int, int]
) -> None:
    folder, simulation = recorded(tmp_path)
    record = read_record(folder)
    again = HeldAgain(read(folder / "settings.yaml"), simulation.events[:30], record.timelines)
    text = differences_page(record, again, {"session.language": (None, HOSTILE)}, same=False)
    shown, complaints = opened(browsers, write_text(tmp_path / "two.html", text), size)
    looks_well(shown, complaints)
    assert "What would differ" in shown.locator("main").inner_text()
