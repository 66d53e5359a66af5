"""The page in a call, against a real server on scripted models: WebRTC where it can be, and the
WebSocket where it can not, with all that the page does over both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.testing.simulator import tone
from tests.support.browser import CALLED_HZ, Browsers, called, played
from tests.support.lossy_relay import LossyRelay
from tests.support.scripted_server import scripted_server

if TYPE_CHECKING:
    from av import AudioFrame
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

CALLS = "**/v1/realtime/calls"
NOTE_STATES = """() => {
  window.states = [];
  const note = () => {
    const { state } = document.body.dataset;
    if (window.states.at(-1) !== state) window.states.push(state);
  };
  new MutationObserver(note).observe(document.body, { attributes: true });
}"""
SLOW_MS = 30_000
"""A machine with other things to do answers late."""


@pytest.fixture
def url() -> Iterator[str]:
    pytest.importorskip("aiortc")
    with scripted_server() as port:
        yield f"http://127.0.0.1:{port}"


def says(*silences_s: float) -> Block:
    """A second of tone behind each of these silences, and silence behind it: float32 at 16 kHz."""
    blocks: list[Block] = []
    for silence_s in silences_s:
        blocks += [np.zeros(int(16_000 * silence_s), np.float32), tone(1.0)]
    return np.concatenate([*blocks, np.zeros(16_000 * 90, np.float32)])


def talk(page: Page, by: str) -> None:
    """Begin; the connection is of that kind."""
    from playwright.sync_api import expect

    page.get_by_role("button", name="Talk").click()
    expect(page.locator("#link-text")).to_have_text("Connected", timeout=SLOW_MS)
    expect(page.locator("#link-by")).to_have_text(by)


def type_in(page: Page, text: str) -> None:
    page.locator("#text").fill(text)
    page.locator("#text").press("Enter")


def answered(page: Page, words: str, number: int = 0) -> None:
    """The answer of that number is these words, all of them heard."""
    from playwright.sync_api import expect

    line = page.locator(".line.assistant .said").nth(number)
    expect(line).to_have_text(words, timeout=SLOW_MS)


def loud_s(sound: Block, rate_hz: int) -> float:
    """Seconds of it that are no silence."""
    return float(np.count_nonzero(np.abs(sound) > 0.01)) / rate_hz


def test_one_speaks_and_hears_the_answer_in_a_call(
    browsers: Browsers, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In packets of 40 ms both ways, as the browser was asked for."""
    from playwright.sync_api import expect

    from s2s.transport.webrtc.tracks import VoiceOfClient

    lengths: list[int] = []
    heard = VoiceOfClient.heard

    def noted(voice: VoiceOfClient, frame: AudioFrame) -> None:
        lengths.append(frame.samples)
        heard(voice, frame)

    monkeypatch.setattr(VoiceOfClient, "heard", noted)
    page = browsers.open(url, microphone=says(1.0))
    page.evaluate(NOTE_STATES)
    talk(page, "WebRTC")
    expect(page.locator(".line.you .said")).to_have_text("what time is it", timeout=SLOW_MS)
    answered(page, "You said what time is it.")
    expect(page.locator("#state")).to_have_text("Listening", timeout=SLOW_MS)
    expect(page.locator("#latency")).to_have_text(re.compile(r"Answered after \d"))
    assert loud_s(called(page), CALLED_HZ) > 0.3
    assert loud_s(played(page), 24_000) == 0
    assert set(lengths[-50:]) == {1920}
    assert page.evaluate("window.states").count("speaking") == 1
    assert not page.locator(".line.cut").count()


def test_one_interrupts_by_speaking_and_what_was_heard_stands(browsers: Browsers, url: str) -> None:
    from playwright.sync_api import expect

    page = browsers.open(url, microphone=says(9.0))
    talk(page, "WebRTC")
    type_in(page, "count")
    expect(page.locator(".line.cut .note")).to_have_text("You interrupted here", timeout=SLOW_MS)
    assert "sentence number" in page.locator(".line.cut .said").inner_text()
    assert page.locator(".line.cut .unheard").inner_text()
    answered(page, re.compile("^You said what time is it"), 1)  # pyright: ignore[reportArgumentType]


def test_one_stops_an_answer_by_button_and_by_key(browsers: Browsers, url: str) -> None:
    from playwright.sync_api import expect

    page = browsers.open(url, allowed=False)
    for count, stop in enumerate(("button", "Escape")):
        type_in(page, "count")
        expect(page.locator("#state")).to_have_text(re.compile("^Speaking"), timeout=SLOW_MS)
        if stop == "button":
            page.get_by_role("button", name="Stop").click()
        else:
            page.keyboard.press("Escape")
        expect(page.locator("#stop")).to_be_disabled()
        note = page.locator(".line.cut .note").nth(count)
        expect(note).to_have_text("You stopped it here", timeout=SLOW_MS)
    expect(page.locator("#link-by")).to_have_text("WebRTC")


def test_muted_nothing_is_heard_and_an_end_ends_what_was_said(browsers: Browsers, url: str) -> None:
    from playwright.sync_api import expect

    page = browsers.open(url, microphone=says(3.0, 4.0))
    talk(page, "WebRTC")
    page.get_by_role("button", name="Mute").click()
    expect(page.locator("#state")).to_have_text("Muted: nothing you say is sent")
    page.wait_for_timeout(4_500)  # the first tone
    assert not page.locator(".line.you").count()
    page.get_by_role("button", name="Mute").click()
    expect(page.locator("#state")).to_have_text("Hearing you", timeout=SLOW_MS)
    page.get_by_role("button", name="End", exact=True).click()
    answered(page, "You said what time is it.")


def found_but_aiortc(name: str) -> ModuleSpec | None:
    """What is installed without the extra."""
    return None if name == "aiortc" else find_spec(name)


@pytest.mark.parametrize("absent", [True, False], ids=["no extra", "no RTCPeerConnection"])
def test_a_server_or_a_browser_without_calls_takes_the_socket(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch, *, absent: bool
) -> None:
    if absent:
        monkeypatch.setattr("importlib.util.find_spec", found_but_aiortc)
    with scripted_server() as port:
        page = browsers.open(f"http://127.0.0.1:{port}", microphone=says(1.0))
        if not absent:
            page.add_init_script("delete window.RTCPeerConnection")
            page.reload()
        talk(page, "WebSocket")
        answered(page, "You said what time is it.")
        assert loud_s(played(page), 24_000) > 0.3


def test_a_call_that_does_not_connect_becomes_a_socket(browsers: Browsers, url: str) -> None:
    """The server's address in the answer is one that nobody has."""
    page = browsers.open(url, microphone=says(6.0))

    def elsewhere(route: Route) -> None:
        answer = route.fetch()
        sdp = re.sub(
            r"^(a=candidate:\S+ \d \S+ \d+) \S+ \d+ ",
            r"\1 192.0.2.1 9 ",
            answer.text(),
            flags=re.M,
        )
        route.fulfill(response=answer, body=sdp)

    page.route(CALLS, elsewhere)
    talk(page, "WebSocket")
    answered(page, "You said what time is it.")
    type_in(page, "so far")
    answered(page, "You asked 2 questions.", 1)


def test_a_call_that_breaks_off_goes_on_as_a_socket_where_it_was(
    browsers: Browsers, url: str
) -> None:
    from playwright.sync_api import expect

    with ExitStack() as stack:
        relay = stack.enter_context(LossyRelay(0.0, 0.0))
        page = browsers.open(url, microphone=says(1.0))

        def through(route: Route) -> None:
            offer = relay.offer(route.request.post_data or "")
            answer = route.fetch(post_data=offer)
            route.fulfill(response=answer, body=relay.answer(answer.text()))

        page.route(CALLS, through)
        talk(page, "WebRTC")
        answered(page, "You said what time is it.")
        relay.cut = True
        expect(page.locator("#link-by")).to_have_text("WebSocket", timeout=SLOW_MS)
        expect(page.locator("#link-text")).to_have_text("Connected", timeout=SLOW_MS)
        type_in(page, "so far")
        answered(page, "You asked 2 questions.", 1)
        assert not page.locator(".remark").count(), "it is the same conversation"
        assert loud_s(played(page), 24_000) > 0.3
