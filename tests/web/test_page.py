"""The page in a browser, against a scripted server: what a person sees, hears and does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block, empty, read_wav
from tests.support.browser import PLAYED_HZ, Browsers, played
from tests.support.fake_realtime import FakeRealtime, Reply

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

SPEECH = Path(__file__).parents[1] / "data" / "something.wav"
LONG_S = 60.0
"""The microphone goes on in silence: its recording would end else."""


def says(*parts: float) -> Block:
    """Speech behind each of these silences, in s, and silence behind it: float32 at 16 kHz."""
    speech, _ = read_wav(SPEECH, 16_000)
    blocks: list[Block] = []
    for silence_s in parts:
        blocks += [np.zeros(int(16_000 * silence_s), dtype=np.float32), speech]
    rest = np.zeros(int(16_000 * LONG_S), dtype=np.float32)
    return np.concatenate([*blocks, rest]) if blocks else np.concatenate([empty(), rest])


def answer(words: str, **options: object) -> Reply:
    return Reply(words.split(), **options)  # pyright: ignore[reportArgumentType]


def test_one_says_something_and_hears_the_answer(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, microphone=says(0.5))
    expect(page.locator("#welcome")).to_be_visible()
    assert not fake_realtime.received, "nothing is sent before one wants to talk"
    page.get_by_role("button", name="Talk").click()
    expect(page.locator("#link-text")).to_have_text("Connected")
    expect(page.locator(".line.you")).to_contain_text("what time is it", timeout=20_000)
    expect(page.locator(".line.assistant .said")).to_have_text(
        "It is noon by the clock.", timeout=20_000
    )
    expect(page.locator("#state")).to_have_text("Listening", timeout=20_000)
    expect(page.locator("#latency")).to_have_text(re.compile(r"Answered after \d"))
    sound = played(page)
    seconds = np.count_nonzero(np.abs(sound) > 0.001) / PLAYED_HZ
    assert seconds == pytest.approx(6 * 0.3, abs=0.15)
    update = fake_realtime.wait_for("session.update")
    assert str(update["session"]).count("24000") == 2
    assert not fake_realtime.of("conversation.item.truncate")


def test_words_grow_while_they_are_said_and_pale_until_they_are_heard(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    fake_realtime.script.answers = lambda _: answer("one two three four five six", word_s=1.0)
    page = browsers.open(fake_realtime.url, microphone=says())
    page.get_by_role("button", name="Talk").click()
    expect(page.locator("#link-text")).to_have_text("Connected")
    fake_realtime.push("input_audio_buffer.speech_started", audio_start_ms=0, item_id="me")
    expect(page.locator("#state")).to_have_text("Hearing you")
    part = {"item_id": "me", "content_index": 0}
    kind = "conversation.item.input_audio_transcription"
    for words, shown in (("what ", "what "), ("time", "what time")):
        fake_realtime.push(f"{kind}.delta", **part, delta=words)
        expect(page.locator(".line.you.partial .said")).to_have_text(shown.strip())
    fake_realtime.push("input_audio_buffer.speech_stopped", audio_end_ms=900, item_id="me")
    expect(page.locator("#state")).to_have_text("Thinking")
    fake_realtime.push(f"{kind}.completed", **part, transcript="What time?")
    expect(page.locator(".line.you:not(.partial) .said")).to_have_text("What time?")
    page.locator("#text").fill("go on")
    page.locator("#text").press("Enter")
    expect(page.locator(".line.assistant .said")).to_have_text(re.compile("^one two "))
    expect(page.locator(".line.assistant .ahead")).to_have_text(re.compile("five six$"))
    expect(page.locator("#state")).to_have_text(re.compile("^Speaking"))


def test_one_interrupts_by_speaking(browsers: Browsers, fake_realtime: FakeRealtime) -> None:
    from playwright.sync_api import expect

    words = " ".join(f"word{number}" for number in range(40))
    fake_realtime.script.answers = lambda heard: answer(words, word_s=0.5)
    page = browsers.open(fake_realtime.url, microphone=says(0.5, 4.0))
    page.get_by_role("button", name="Talk").click()
    truncate = fake_realtime.wait_for("conversation.item.truncate")
    heard_ms = int(str(truncate["audio_end_ms"]))
    assert 500 < heard_ms < 6000
    expect(page.locator(".line.cut .unheard")).to_have_text(re.compile("word39$"))
    expect(page.locator(".line.cut .note")).to_have_text("You interrupted here")
    said = page.locator(".line.cut .said").inner_text().split()
    assert len(said) == pytest.approx(heard_ms / 500, abs=1.5), "what was heard, and no more"


def test_one_stops_it_by_button_and_by_key(browsers: Browsers, fake_realtime: FakeRealtime) -> None:
    from playwright.sync_api import expect

    fake_realtime.script.answers = lambda _: answer("word " * 60, word_s=0.5, real_time=1.0)
    page = browsers.open(fake_realtime.url, microphone=says())
    for count, stop in enumerate(("button", "Escape"), 1):
        page.locator("#text").fill("tell me a story")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#state")).to_have_text(re.compile("^Speaking"), timeout=20_000)
        if stop == "button":
            page.get_by_role("button", name="Stop").click()
        else:
            page.keyboard.press("Escape")
        fake_realtime.wait_for("response.cancel", count)
        fake_realtime.wait_for("conversation.item.truncate", count)
        expect(page.locator("#stop")).to_be_disabled()
        expect(page.locator(".line.cut .note").nth(count - 1)).to_have_text("You stopped it here")


def test_one_types_without_a_microphone(browsers: Browsers, fake_realtime: FakeRealtime) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, allowed=False)
    page.locator("#text").fill("what day is it")
    page.locator("#text").press("Enter")
    expect(page.locator(".line.you .said")).to_have_text("what day is it")
    expect(page.locator(".line.assistant .said")).to_have_text(
        "It is noon by the clock.", timeout=20_000
    )
    expect(page.locator("#state")).to_have_text("The microphone is off", timeout=20_000)
    assert fake_realtime.heard == ["what day is it"]
    assert np.abs(played(page)).max() > 0.1
    assert not fake_realtime.of("input_audio_buffer.append")


def test_a_refused_microphone_is_told_with_what_to_do(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, allowed=False)
    page.get_by_role("button", name="Talk").click()
    expect(page.get_by_role("alert")).to_contain_text("does not let this page use the microphone")
    expect(page.locator("#talk")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Close this message").click()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_server_that_goes_and_comes_back_goes_on_where_it_was(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, microphone=says())
    page.get_by_role("button", name="Talk").click()
    expect(page.locator("#link-text")).to_have_text("Connected")
    fake_realtime.wait_for("session.update")
    fake_realtime.stop()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    fake_realtime.start()
    expect(page.locator("#link-text")).to_have_text("Connected", timeout=20_000)
    expect(page.get_by_role("alert")).to_be_hidden()
    first, last = fake_realtime.offers[0], fake_realtime.offers[-1]
    assert first["Sec-WebSocket-Protocol"] == last["Sec-WebSocket-Protocol"]
    assert "s2s-resume." in first["Sec-WebSocket-Protocol"]
    assert len(fake_realtime.of("session.update")) == 1, "it is the same session"
    assert not page.locator(".remark").count()


def test_a_server_that_forgot_is_told_and_asked_anew(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    fake_realtime.script.remembers = False
    page = browsers.open(fake_realtime.url, microphone=says())
    page.get_by_role("button", name="Talk").click()
    fake_realtime.wait_for("session.update")
    fake_realtime.drop()
    fake_realtime.wait_for("session.update", 2)
    expect(page.locator(".remark")).to_contain_text("A new conversation")


def test_a_full_server_is_told_and_waited_for(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    fake_realtime.script.full = True
    page = browsers.open(fake_realtime.url, microphone=says())
    page.get_by_role("button", name="Talk").click()
    expect(page.get_by_role("alert")).to_contain_text("as many people as it can")
    expect(page.locator("#link-text")).to_have_text(re.compile(r"Trying again in \d s"))
    fake_realtime.script.full = False
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#link-text")).to_have_text("Connected")


def test_a_key_is_asked_for_and_kept_as_one_likes(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    fake_realtime.script.key = "secret-7"
    page = browsers.open(fake_realtime.url, microphone=says())
    page.get_by_role("button", name="Talk").click()
    expect(page.get_by_role("alert")).to_contain_text("asks for a key")
    page.get_by_role("button", name="Enter the key").click()
    expect(page.locator("#key")).to_be_focused()
    page.locator("#key").fill("wrong")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Talk").click()
    expect(page.get_by_role("alert")).to_contain_text("does not know this key")
    page.get_by_role("button", name="Enter the key").click()
    page.locator("#key").fill("secret-7")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#link-text")).to_have_text("Connected")
    assert page.evaluate("localStorage.getItem('s2s-key')") is None
    assert "secret" not in page.evaluate("localStorage.getItem('s2s')")


def test_a_key_in_the_address_is_taken_out_of_it(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    fake_realtime.script.key = "secret-7"
    page = browsers.open(f"{fake_realtime.url}/#key=secret-7", microphone=says())
    assert "secret" not in page.url
    page.get_by_role("button", name="Talk").click()
    expect(page.locator("#link-text")).to_have_text("Connected")
    assert "openai-insecure-api-key.secret-7" in fake_realtime.offers[0]["Sec-WebSocket-Protocol"]


def test_settings_are_asked_for_and_kept(browsers: Browsers, fake_realtime: FakeRealtime) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, microphone=says())
    page.get_by_role("button", name="Settings").click()
    expect(page.locator("#voice option")).to_have_count(3)
    page.get_by_label("Voice").select_option("ben")
    page.get_by_label("Language you speak").select_option("de")
    page.get_by_label("Speak the answers").uncheck()
    page.get_by_role("button", name="Done").click()
    page.reload()
    page.get_by_role("button", name="Talk").click()
    session = fake_realtime.wait_for("session.update")["session"]
    assert isinstance(session, dict)
    assert session["audio"]["output"]["voice"] == "ben"
    assert session["audio"]["input"]["transcription"]["language"] == "de"
    assert session["output_modalities"] == ["text"]
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_label("Voice")).to_have_value("ben")
    page.get_by_label("Language you speak").select_option("")
    page.keyboard.press("Escape")
    fake_realtime.wait_for("session.update", 2)


def test_muted_nothing_but_silence_is_sent(browsers: Browsers, fake_realtime: FakeRealtime) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, microphone=says(2.0))
    page.get_by_role("button", name="Talk").click()
    page.get_by_role("button", name="Mute").click()
    expect(page.locator("#state")).to_have_text("Muted: nothing you say is sent")
    fake_realtime.wait_for("input_audio_buffer.append", 150)
    assert not fake_realtime.heard


def test_the_last_turns_stand_in_the_timeline(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, allowed=False)
    page.get_by_role("button", name="Timeline").click()
    for count, text in enumerate(("first", "second"), 1):
        page.locator("#text").fill(text)
        page.locator("#text").press("Enter")
        expect(page.locator(".row")).to_have_count(count, timeout=20_000)
        expect(page.locator("#stop")).to_be_disabled(timeout=20_000)
    expect(page.locator(".row .what")).to_have_text(["second", "first"])
    for shown in page.locator(".row .total").all_inner_texts():
        assert re.fullmatch(r"\d+\.\d\d s", shown)


def test_all_of_it_can_be_done_by_keyboard(browsers: Browsers, fake_realtime: FakeRealtime) -> None:
    from playwright.sync_api import expect

    page = browsers.open(fake_realtime.url, microphone=says())
    reached: list[str] = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    for name in ("skip", "open-timeline", "open-settings", "scroll", "talk", "text", "send"):
        assert name in reached
    page.locator("#talk").focus()
    page.keyboard.press("Space")
    expect(page.locator("#talk")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.locator("#talk")).to_have_attribute("aria-pressed", "false")
    page.locator("#open-settings").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#voice")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#open-settings")).to_be_focused()


def test_everything_has_a_name_for_a_screen_reader(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    page = browsers.open(fake_realtime.url, microphone=says())
    assert page.evaluate(UNNAMED) == []


def test_nothing_turns_for_who_wants_no_motion(
    browsers: Browsers, fake_realtime: FakeRealtime
) -> None:
    fake_realtime.script.delay_s = 30.0
    turning = "() => getComputedStyle(document.querySelector('#talk'), '::after').animationName"
    for reduced_motion, name in ((False, "turn"), (True, "none")):
        page = browsers.open(fake_realtime.url, allowed=False, reduced_motion=reduced_motion)
        page.locator("#text").fill("hello")
        page.locator("#text").press("Enter")
        page.locator("body[data-state=thinking]").wait_for()
        assert page.evaluate(turning) == name


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_wider_than_the_screen_or_too_faint_to_read(
    browsers: Browsers, fake_realtime: FakeRealtime, width: int, colours: str
) -> None:
    page = browsers.open(fake_realtime.url, size=(width, 640), colours=colours)  # pyright: ignore
    page.locator("#text").fill("a" * 300)
    page.locator("#text").press("Enter")
    page.locator(".line.assistant .said").wait_for()
    page.get_by_role("button", name="Settings").click()
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    small = """() => [...document.querySelectorAll('button, input:not([type=checkbox]), select')]
      .filter((each) => each.offsetParent && Math.min(each.offsetWidth, each.offsetHeight) < 40)
      .map((each) => each.id)"""
    assert page.evaluate(small) == [], "too small for a finger"
    faint = page.evaluate(FAINT)
    assert faint == []


FOCUSED = "() => document.activeElement.id || document.activeElement.className"

UNNAMED = """() => {
  const name = (each) => each.getAttribute('aria-label') || each.getAttribute('aria-labelledby')
    || each.textContent.trim() || each.labels?.[0]?.textContent.trim();
  return [...document.querySelectorAll('button, input, select, [role]')]
    .filter((each) => !['alert', 'status'].includes(each.getAttribute('role')))
    .filter((each) => !each.hidden && !name(each))
    .map((each) => each.outerHTML);
}"""

FAINT = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (each) => {
    for (; each; each = each.parentElement) {
      const colour = rgb(getComputedStyle(each).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')].filter((each) => {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !each.checkVisibility()) return false;
    if (each.closest('.hidden, .skip, :disabled, option, select')) return false;
    const style = getComputedStyle(each);
    const ground = behind(each);
    const share = Number(style.opacity);
    const ink = rgb(style.color).map((v, i) => v * share + ground[i] * (1 - share));
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < 4.5;
  }).map((each) => `${each.tagName}.${each.className}#${each.id}: ${each.textContent.trim()}`);
}"""
