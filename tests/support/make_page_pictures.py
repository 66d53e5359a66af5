"""Pictures of the page in every state, to be looked at; and the one of docs/browser.md.

    python -m tests.support.make_page_pictures FOLDER      every state, three widths, two colours
    python -m tests.support.make_page_pictures --docs      docs/pictures/page.png

Needs what tests/support/browser.py needs, and Pillow, which comes with matplotlib.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image
from playwright.sync_api import sync_playwright

from s2s.core.audio import Block, read_wav
from tests.support.browser import Browsers
from tests.support.fake_realtime import FakeRealtime, Reply

if TYPE_CHECKING:
    from playwright.sync_api import Page, Playwright

ROOT = Path(__file__).parents[2]
SPEECH = ROOT / "tests" / "data" / "something.wav"
WIDTHS: Mapping[int, int] = {360: 720, 768: 900, 1280: 800}
"""Width and height of the screens."""
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TRANSCRIPTION = "conversation.item.input_audio_transcription"
LONG = (
    "Boil the water first, then let it stand for a minute. Green tea turns bitter in water that "
    "boils. Two minutes are enough, and the second infusion is often the better one."
)


@dataclass(frozen=True, slots=True)
class Stage:
    """A page and its server."""

    page: Page
    server: FakeRealtime

    def talk(self) -> None:
        self.page.locator("#talk").click()
        self.page.locator("body:not([data-state=off]):not([data-state=connecting])").wait_for()

    def type(self, text: str, words: str, **options: float) -> None:
        self.server.script.answers = lambda _: Reply(words.split(), **options)  # pyright: ignore
        self.page.locator("#text").fill(text)
        self.page.locator("#text").press("Enter")

    def until(self, state: str) -> None:
        self.page.locator(f"body[data-state={state}]").wait_for()

    def says(self, text: str, *, final: bool = True) -> None:
        self.server.push("input_audio_buffer.speech_started", audio_start_ms=0, item_id=text)
        part = {"item_id": text, "content_index": 0}
        self.server.push(f"{TRANSCRIPTION}.delta", **part, delta=text)
        if final:
            self.server.push("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=text)
            self.server.push("input_audio_buffer.committed", item_id=text)
            self.server.push(f"{TRANSCRIPTION}.completed", **part, transcript=text)
        self.page.locator(".line.you .said").get_by_text(text).wait_for()

    def history(self) -> None:
        self.type("Good morning! What can you do?", "I can listen, think and talk.", word_s=0.05)
        self.page.locator("#stop:disabled").wait_for()
        self.page.wait_for_timeout(700)


def welcome(stage: Stage) -> None:
    stage.page.locator("#welcome").wait_for()


def listening(stage: Stage) -> None:
    stage.talk()
    stage.history()
    stage.until("listening")


def hearing(stage: Stage) -> None:
    stage.talk()
    stage.history()
    stage.says("How long should I let green tea", final=False)


def thinking(stage: Stage) -> None:
    stage.talk()
    stage.history()
    stage.says("How long should I let green tea brew?")
    stage.until("thinking")


def speaking(stage: Stage) -> None:
    stage.talk()
    stage.history()
    stage.type("How long should I let green tea brew?", LONG, word_s=0.3)
    stage.until("speaking")
    stage.page.wait_for_timeout(2500)


def interrupted(stage: Stage) -> None:
    speaking(stage)
    stage.says("And black tea?", final=False)
    stage.page.locator(".line.cut").wait_for()


def muted(stage: Stage) -> None:
    stage.talk()
    stage.history()
    stage.page.locator("#mute").click()


def refused_microphone(stage: Stage) -> None:
    stage.page.locator("#talk").click()
    stage.page.locator("#notice").wait_for()


def full(stage: Stage) -> None:
    stage.server.script.full = True
    stage.talk()
    stage.page.locator("#notice").wait_for()


def gone(stage: Stage) -> None:
    stage.talk()
    stage.history()
    stage.server.stop()
    stage.page.locator("#notice").wait_for()
    stage.page.wait_for_timeout(3500)


def key(stage: Stage) -> None:
    stage.server.script.key = "secret"
    stage.talk()
    stage.page.locator("#notice").wait_for()


def settings(stage: Stage) -> None:
    stage.page.locator("#open-settings").click()
    stage.page.locator("#voice option:nth-child(3)").wait_for(state="attached")


def timeline(stage: Stage) -> None:
    stage.talk()
    stage.server.script.delay_s = 0.3
    for count, text in enumerate(("What is the weather like?", "And tomorrow?", "Thank you."), 1):
        stage.type(text, "It will rain all day.", word_s=0.1)
        stage.page.locator(f".row:nth-child({count})").wait_for(state="attached")
        stage.page.locator("#stop:disabled").wait_for()
    stage.page.locator("#open-timeline").click()


SCENES: tuple[Callable[[Stage], None], ...] = (
    welcome, listening, hearing, thinking, speaking, interrupted, muted, refused_microphone, full,
    gone, key, settings, timeline,
)  # fmt: skip


def picture(
    playwright: Playwright,
    folder: Path,
    scene: Callable[[Stage], None],
    size: tuple[int, int],
    colours: Literal["light", "dark"],
) -> Image.Image:
    """A scene on a screen."""
    server = FakeRealtime()
    browsers = Browsers(playwright, "/usr/bin/chromium", folder)
    try:
        speech: Block = read_wav(SPEECH, 16_000)[0]
        quiet = 0.0 * speech if scene is not listening else speech
        page = browsers.open(
            server.url,
            microphone=quiet,
            allowed=scene is not refused_microphone,
            size=size,
            colours=colours,
        )
        server.script.hears = lambda _: ""
        scene(Stage(page, server))
        page.wait_for_timeout(400)
        return Image.open(BytesIO(page.screenshot())).convert("RGB")
    finally:
        browsers.close()
        if scene is not gone:
            server.stop()


def beside(pictures: list[Image.Image], gap: int = 16) -> Image.Image:
    """Pictures in a row."""
    width = sum(each.width for each in pictures) + gap * (len(pictures) - 1)
    row = Image.new("RGB", (width, max(each.height for each in pictures)), "#808080")
    left = 0
    for each in pictures:
        row.paste(each, (left, 0))
        left += each.width + gap
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--only", help="scenes, by commas")
    options = parser.parse_args()
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.docs:
            pictures = [
                picture(playwright, temporary, speaking, (360, 640), "light"),
                picture(playwright, temporary, timeline, (1280, 640), "dark"),
            ]
            path = ROOT / "docs" / "pictures" / "page.png"
            beside(pictures).quantize(96).save(path, optimize=True)
            print(f"{path}: {path.stat().st_size} bytes")
            return
        folder: Path = options.folder
        folder.mkdir(parents=True, exist_ok=True)
        for scene in SCENES:
            if options.only and scene.__name__ not in options.only.split(","):
                continue
            began = time.perf_counter()
            for colours in COLOURS:
                pictures = [
                    picture(playwright, temporary, scene, size, colours) for size in WIDTHS.items()
                ]
                beside(pictures).save(folder / f"{scene.__name__}-{colours}.png")
            print(f"{scene.__name__}: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
