"""The page in Debian's Chromium, headless, with a recording for a microphone.

Needs Debian's package chromium and the Python package playwright (the extra `browser`), which only
drives it: nothing is downloaded. What the page plays is recorded on its way to the loudspeaker.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from s2s.core.audio import Block, write_wav

if TYPE_CHECKING:
    from playwright.sync_api import Page, Playwright

ARGUMENTS = (
    "--no-sandbox",  # in a container, as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=user-gesture-required",
)
PLAYED_HZ = 24_000

RECORD = """
(() => {
  const connect = AudioNode.prototype.connect;
  window.played = [];
  AudioNode.prototype.connect = function (to, ...rest) {
    const ours = to instanceof AudioDestinationNode && this.context.sampleRate === 24000;
    if (ours && !window.recorder) {
      const recorder = (window.recorder = this.context.createScriptProcessor(4096, 1, 1));
      recorder.onaudioprocess = ({ inputBuffer }) => {
        window.played.push(inputBuffer.getChannelData(0).slice());
      };
      connect.call(this, recorder);
      connect.call(recorder, to);
    }
    return connect.call(this, to, ...rest);
  };
})();
"""
"""Keeps what goes to the loudspeaker."""

CALLED_HZ = 48_000

RECORD_CALLS = """
(() => {
  window.called = [];
  const record = async (track) => {
    const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const samples = new Float32Array(value.numberOfFrames);
      value.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
      value.close();
      window.called.push(samples);
    }
  };
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...all) {
      super(...all);
      this.addEventListener("track", ({ track }) => record(track.clone()));
    }
  };
})();
"""
"""Keeps what comes in calls."""

PLAYED = """
(name) => {
  const all = new Float32Array(window[name].reduce((sum, each) => sum + each.length, 0));
  window[name].reduce((at, each) => (all.set(each, at), at + each.length), 0);
  const bytes = new Uint8Array(all.buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}
"""


class Browsers:
    """Opens pages, each in a browser of its own, and closes them all at the end."""

    def __init__(self, playwright: Playwright, program: str, folder: Path) -> None:
        self._playwright = playwright
        self._program = program
        self._folder = folder
        self._stack = ExitStack()
        self.faults: list[str] = []
        """What the pages threw, or wrote to the console as an error of the page itself."""

    def open(
        self,
        url: str,
        *,
        microphone: Block | None = None,
        allowed: bool = True,
        size: tuple[int, int] = (1280, 800),
        colours: Literal["light", "dark"] = "light",
        reduced_motion: bool = False,
    ) -> Page:
        """A page.

        Args:
            microphone: float32 [samples] at 16 kHz that it hears once; None: beeps.
            allowed: the person lets it use the microphone.
        """
        arguments = [*ARGUMENTS]
        if allowed:
            arguments.append("--use-fake-ui-for-media-stream")
        if microphone is not None:
            path = self._folder / f"microphone{len(microphone)}.wav"
            write_wav(path, microphone, 16_000)
            arguments.append(f"--use-file-for-fake-audio-capture={path}%noloop")
        browser = self._playwright.chromium.launch(
            executable_path=self._program, headless=True, args=arguments
        )
        self._stack.callback(browser.close)
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=colours,
            reduced_motion="reduce" if reduced_motion else "no-preference",
            device_scale_factor=1,
        )
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.add_init_script(RECORD)
        page.add_init_script(RECORD_CALLS)
        page.goto(url)
        return page

    def close(self) -> None:
        self._stack.close()


def played(page: Page) -> Block:
    """What the page has played: float32 [samples] at 24 kHz, silences included."""
    return np.frombuffer(base64.b64decode(page.evaluate(PLAYED, "played")), dtype="<f4")


def called(page: Page) -> Block:
    """What came to the page in calls: float32 [samples] at 48 kHz, silences included."""
    return np.frombuffer(base64.b64decode(page.evaluate(PLAYED, "called")), dtype="<f4")


@pytest.fixture(scope="session")
def browser_program() -> str:
    found = shutil.which("chromium")
    if found is None:
        pytest.fail("needs Debian's package chromium: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def playwright_driver(browser_program: str) -> Iterator[Playwright]:
    """Of one file: an event loop of its own runs in the tests' thread as long as it does, and no
    other can there."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("needs the extra browser: pip install playwright")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture
def browsers(
    playwright_driver: Playwright, browser_program: str, tmp_path: Path
) -> Iterator[Browsers]:
    """Opens pages; none may throw."""
    opened = Browsers(playwright_driver, browser_program, tmp_path)
    try:
        yield opened
    finally:
        opened.close()
    assert not opened.faults
