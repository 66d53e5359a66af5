"""The page and the thin client against the real server: embedded models, real speech.

What is heard is judged by ear: the embedded speech-to-text writes down what was played.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile

from s2s.app.cli import main
from s2s.bench.hearing.wer import words
from s2s.core.audio import Block, read_wav, resample
from s2s.models.resources import Resources
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.transport.remote.address import realtime_address
from s2s.transport.remote.websocket import open_websocket
from tests.support.browser import CALLED_HZ, PLAYED_HZ, Browsers, called, played
from tests.support.real_server import RealServer

pytestmark = [pytest.mark.browser, pytest.mark.models, pytest.mark.timeout(420)]

DATA = Path(__file__).parents[1] / "data"
SAID = DATA / "librivox_0880.wav"
WORDS = words("he was not an ill disposed young man")
SLOW_MS = 90_000
"""A machine with other things to do answers late; what is waited for comes."""


def silence(seconds: float) -> Block:
    return np.zeros(int(16_000 * seconds), dtype=np.float32)


def says(*pauses: float) -> Block:
    """The sentence behind each of these silences, in s, and silence behind it."""
    said, _ = read_wav(SAID, 16_000)
    parts = [part for pause in pauses for part in (silence(pause), said)]
    return np.concatenate([*parts, silence(240.0)])


def share(expected: list[str], found: list[str]) -> float:
    """Of the words that were expected, how many were found."""
    return sum(word in found for word in expected) / max(1, len(expected))


@pytest.fixture(scope="module")
def ears(resources: Resources) -> Moonshine:
    return Moonshine(MoonshineConfig(), resources)


@pytest.mark.parametrize("by", ["WebRTC", "WebSocket"])
def test_one_speaks_and_the_answer_is_heard(
    browsers: Browsers, real_server: RealServer, ears: Moonshine, by: str
) -> None:
    from playwright.sync_api import expect

    real_server.start()
    page = browsers.open(real_server.url, microphone=says(1.0))
    if by == "WebSocket":
        page.add_init_script("delete window.RTCPeerConnection")
        page.reload()
    page.get_by_role("button", name="Talk").click()
    expect(page.locator("#link-text")).to_have_text("Connected", timeout=SLOW_MS)
    line = page.locator(".line.you:not(.partial) .said").first
    expect(line).to_have_text(re.compile("young man", re.I), timeout=SLOW_MS)
    assert share(WORDS, words(line.inner_text())) >= 0.7
    page.locator("body[data-state=speaking]").wait_for(timeout=SLOW_MS)
    page.locator("body[data-state=listening]").wait_for(timeout=SLOW_MS)
    shown = page.locator(".line.assistant .said").first.inner_text()
    assert not page.locator(".line.cut").count()
    expect(page.locator("#link-by")).to_have_text(by)
    sound, rate_hz = (called(page), CALLED_HZ) if by == "WebRTC" else (played(page), PLAYED_HZ)
    heard = ears.transcribe(resample(sound, rate_hz, 16_000)).text
    assert share(words(shown), words(heard)) >= 0.7, (shown, heard)
    expect(page.locator("#latency")).to_have_text(re.compile(r"Answered after \d"))


def test_one_types_and_interrupts_by_voice(browsers: Browsers, real_server: RealServer) -> None:
    """The sentence comes again and again; one of its times is during an answer."""
    from playwright.sync_api import expect

    real_server.start()
    page = browsers.open(real_server.url, microphone=says(8.0, *[4.0] * 20))
    page.locator("#text").fill("Count from one to fifty, in words.")
    page.locator("#text").press("Enter")
    expect(page.locator(".line.assistant")).to_have_count(1, timeout=SLOW_MS)
    page.get_by_role("button", name="Talk").click()
    cut = page.locator(".line.cut").first
    cut.wait_for(timeout=2 * SLOW_MS)
    expect(cut.locator(".note")).to_have_text("You interrupted here")


def test_a_full_server_is_told_and_one_that_comes_back_is_found(
    browsers: Browsers, real_server: RealServer
) -> None:
    from playwright.sync_api import expect

    real_server.start()
    first = browsers.open(real_server.url, microphone=silence(300.0))
    first.get_by_role("button", name="Talk").click()
    expect(first.locator("#link-text")).to_have_text("Connected", timeout=SLOW_MS)
    second = browsers.open(real_server.url, microphone=silence(301.0))
    second.get_by_role("button", name="Talk").click()
    expect(second.get_by_role("alert")).to_contain_text("as many people as it can", timeout=SLOW_MS)
    second.close()
    real_server.stop()
    expect(first.get_by_role("alert")).to_contain_text("cannot be reached", timeout=SLOW_MS)
    real_server.start()
    expect(first.locator("#link-text")).to_have_text("Connected", timeout=SLOW_MS)
    expect(first.locator("#turns")).to_contain_text("A new conversation")
    first.locator("#text").fill("Are you there?")
    first.locator("#text").press("Enter")
    expect(first.locator(".line.assistant")).to_have_count(1, timeout=SLOW_MS)


def test_the_thin_client_talks_to_it(
    real_server: RealServer, ears: Moonshine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real_server.start()
    out = tmp_path / "out.wav"
    code = main(["talk", "--url", real_server.url, "--input", str(SAID), "--output", str(out)])
    told = capsys.readouterr().out
    assert code == 0
    lines = [line for line in told.splitlines() if line[:5] in ("you  ", "s2s  ")]
    [said] = [line[5:] for line in lines if line.startswith("you")]
    answer = " ".join(line[5:] for line in lines if line.startswith("s2s"))
    assert share(WORDS, words(said)) >= 0.7
    stereo, rate = soundfile.read(out, dtype="float32")
    heard = ears.transcribe(
        resample(np.ascontiguousarray(stereo[:, 1], np.float32), rate, 16_000)
    ).text
    assert share(words(answer), words(heard)) >= 0.7, (answer, heard)


def test_a_connection_that_breaks_is_taken_up_where_it_was(real_server: RealServer) -> None:
    """What both clients count on: the same session, and its history, by the token they chose."""
    real_server.start()
    address = realtime_address(real_server.url)
    first = open_websocket(address, resume="b" * 32)
    session = json.loads(first.receive())["session"]["id"]
    message = {"type": "message", "role": "user", "id": "said_before"}
    content = [{"type": "input_text", "text": "My name is Ann."}]
    created = {"type": "conversation.item.create", "item": {**message, "content": content}}
    first.send(json.dumps(created))
    while json.loads(first.receive())["type"] != "conversation.item.done":
        pass
    first.break_off()
    second = open_websocket(address, resume="b" * 32)
    try:
        assert json.loads(second.receive())["session"]["id"] == session
        second.send(json.dumps({"type": "conversation.item.retrieve", "item_id": "said_before"}))
        event = json.loads(second.receive())
        while event["type"] not in ("conversation.item.retrieved", "error"):
            event = json.loads(second.receive())
        assert event["item"]["content"][0]["text"] == "My name is Ann."
    finally:
        second.close()
