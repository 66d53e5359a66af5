"""Keys while one talks: what each does, and that the terminal is left as it was."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

import s2s.app.talking.keys
from s2s.app.talking.keys import STEERING, Keys, keys_read, usable
from s2s.app.talking.typed_line import TypedLine


class Spy:
    """A conversation that notes what is done to it."""

    def __init__(self) -> None:
        self.muted = False
        self.done: list[str] = []
        self.changed = threading.Condition()

    def mute(self, on: bool) -> None:
        self.muted = on
        self.note(f"mute {on}")

    def talk(self, down: bool) -> None:
        self.note(f"talk {down}")

    def interrupt(self) -> None:
        self.note("interrupt")

    def take_up_dropped(self) -> None:
        self.note("take up")

    def type_line(self, text: str) -> None:
        self.note(f"type {text}")

    def note(self, what: str) -> None:
        with self.changed:
            self.done.append(what)
            self.changed.notify_all()

    def wait_for(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.done) >= count, 10), self.done


def test_each_key_does_what_the_help_says() -> None:
    spy = Spy()
    keys = Keys(spy, push_to_talk=True)
    for at_s, text in enumerate(["m", "M", "\n", "\r", " ", "x", " "]):
        keys.pressed(text, float(at_s))
    assert spy.done == [
        "mute True",
        "mute False",
        "interrupt",
        "interrupt",
        "talk True",
        "talk False",
    ]


def test_without_push_to_talk_space_does_nothing() -> None:
    spy = Spy()
    keys = Keys(spy, push_to_talk=False)
    keys.pressed(" ", 0.0)
    keys.expired(1.0)
    assert spy.done == []


@pytest.mark.parametrize("text", ["\x1b[A", "\x1bm", "\x00m", "\xe0m", "ä", "ñ", "\ufffd"])
def test_other_keys_do_nothing(text: str) -> None:
    spy = Spy()
    Keys(spy, push_to_talk=True).pressed(text, 0.0)
    assert spy.done == []


def test_a_held_key_is_let_go_when_it_repeats_no_more() -> None:
    spy = Spy()
    keys = Keys(spy, push_to_talk=True)
    for at_s in (0.0, 0.5, 0.53, 0.56):
        keys.pressed(" ", at_s)
    assert keys.deadline_s == pytest.approx(0.71)
    keys.expired(0.72)
    assert spy.done[0] == "talk True"
    assert spy.done[-1] == "talk False"
    assert spy.done.count("talk False") == 1


def with_line(spy: Spy) -> Keys:
    line = TypedLine(spy.type_line, lambda _: None, steering=STEERING)
    return Keys(spy, push_to_talk=True, line=line)


def test_keys_steer_until_a_line_is_begun_and_again_after_it() -> None:
    spy = Spy()
    keys = with_line(spy)
    for at_s, text in enumerate(["m", "a", "\r", "h", "ma ", "à", "\r", "m", "\tm", "\n", "\n"]):
        keys.pressed(text, float(at_s))
    assert spy.done == [
        "mute True", "take up", "interrupt", "type hma à", "mute False", "type m", "interrupt",
    ]  # fmt: skip


def test_escape_drops_the_line_and_an_arrow_does_not() -> None:
    spy = Spy()
    keys = with_line(spy)
    for text in ("no", "\x1b", "yes", "\x1b[D", "\x1b", "\x1b", "à la carte", "\r"):
        keys.pressed(text, 0.0)
    assert spy.done == ["type à la carte"]


def test_what_is_pasted_with_its_end_is_sent() -> None:
    spy = Spy()
    with_line(spy).pressed("what time is it\nnow\n", 0.0)
    assert spy.done == ["type what time is it", "type now"]


def test_the_help_says_that_one_can_type() -> None:
    assert "type and press Enter" in Keys.help(push_to_talk=False)
    assert "Ctrl-D ends" in Keys.typing


def test_the_help_names_the_talk_key_where_there_is_one() -> None:
    assert "Space" in Keys.help(push_to_talk=True)
    assert "Space" not in Keys.help(push_to_talk=False)
    assert "m mutes" in Keys.help(push_to_talk=False)


@pytest.mark.parametrize("stdin", [None, io.StringIO("m\n")])
def test_nothing_is_read_where_there_is_no_terminal(
    stdin: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    assert not usable()
    spy = Spy()
    before = threading.active_count()
    with keys_read(Keys(spy, push_to_talk=False)):
        assert threading.active_count() == before
    assert spy.done == []
    if stdin is not None:
        assert stdin.read() == "m\n", "it is left for whom it was meant"


unix = pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """A terminal as the standard input: (what types, what reads)."""
    types, reads = os.openpty()
    stdin = os.fdopen(os.dup(reads), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(
        s2s.app.talking.keys, "usable", lambda: True
    )  # it is not our controlling terminal
    yield types, reads
    stdin.close()
    for each in (types, reads):
        os.close(each)


@unix
def test_keys_come_one_by_one_and_the_terminal_is_as_it_was(terminal: tuple[int, int]) -> None:
    import termios

    types, reads = terminal
    before = termios.tcgetattr(reads)
    handler = signal.getsignal(signal.SIGCONT)
    spy = Spy()
    with keys_read(Keys(spy, push_to_talk=True)):
        inside = termios.tcgetattr(reads)
        assert not inside[3] & termios.ICANON
        assert not inside[3] & termios.ECHO
        assert inside[3] & termios.ISIG, "Ctrl-C stays a signal"
        os.write(types, b"m")
        spy.wait_for(1)
        os.write(types, b"\r")
        spy.wait_for(2)
        termios.tcsetattr(reads, termios.TCSANOW, before)
        signal.raise_signal(signal.SIGCONT)  # as after Ctrl-Z and fg
        assert not termios.tcgetattr(reads)[3] & termios.ICANON
    assert spy.done == ["mute True", "interrupt"]
    assert termios.tcgetattr(reads) == before
    assert signal.getsignal(signal.SIGCONT) == handler
    assert not [each for each in threading.enumerate() if each.name == "s2s-keys"]


@unix
def test_a_character_that_comes_in_two_halves_is_one(terminal: tuple[int, int]) -> None:
    types, _ = terminal
    spy = Spy()
    with keys_read(with_line(spy)):
        for half in (b"gr\xc3", b"\xbc\xc3\x9fe", b"\r"):
            os.write(types, half)
        spy.wait_for(1)
    assert spy.done == ["type grüße"]


@unix
def test_the_terminal_is_as_it_was_after_an_error(terminal: tuple[int, int]) -> None:
    import termios

    _, reads = terminal
    before = termios.tcgetattr(reads)
    with pytest.raises(RuntimeError), keys_read(Keys(Spy(), push_to_talk=True)):
        raise RuntimeError("the device is gone")
    assert termios.tcgetattr(reads) == before


@unix
def test_a_key_that_is_held_is_let_go_by_time_alone(terminal: tuple[int, int]) -> None:
    types, _ = terminal
    spy = Spy()
    with keys_read(Keys(spy, push_to_talk=True)):
        os.write(types, b"   ")
        spy.wait_for(4)
    assert spy.done[0] == "talk True"
    assert spy.done[-1] == "talk False"


@unix
def test_a_program_in_the_background_leaves_the_terminal_alone(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s2s.app.talking.keys, "usable", usable)
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    assert not usable()
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
    assert usable()
