"""A conversation without a microphone: when lines are sent, and where the answers go."""

from __future__ import annotations

from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest

import s2s.app.talking.typed_transport
from s2s.app.talking.typed_transport import TypedScript, TypedTransport
from s2s.core.clock import ManualClock
from s2s.core.messages import ResponseId
from s2s.transport.base import DeviceError
from s2s.transport.local import LocalConfig
from tests.transport.test_local import FakePortAudio, device

ANSWER = ResponseId("t", 0, 0, "a")


class Talk:
    """A transport, and one who answers each line with half a second of work."""

    def __init__(self, lines: list[str] | None) -> None:
        self.clock = ManualClock()
        self.notices: list[str] = []
        self.sent: list[tuple[float, str]] = []
        self.busy_until_s = 0.0
        self.script = TypedScript(lines)
        self.script.send = self.send
        self.transport = TypedTransport(self.script, self.clock, LocalConfig(), self.notices.append)
        self.played = 0.0

    def send(self, line: str) -> None:
        self.sent.append((self.clock.now(), line))
        self.busy_until_s = self.clock.now() + 0.5

    def tick(self) -> bool:
        self.played += len(self.transport.playback.reports())
        return self.clock.now() >= self.busy_until_s and not self.transport.playback.playing

    def run(self) -> None:
        self.transport.run(lambda _: pytest.fail("nothing is heard"), self.tick)


def no_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> ModuleType:
        raise DeviceError("PortAudio is missing")

    monkeypatch.setattr(s2s.app.talking.typed_transport, "portaudio", missing)


def plug(monkeypatch: pytest.MonkeyPatch, fake: FakePortAudio) -> None:
    monkeypatch.setattr(s2s.app.talking.typed_transport, "portaudio", lambda: cast(Any, fake))


def test_each_line_waits_for_the_answer_to_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    no_sound(monkeypatch)
    talk = Talk(["one", "  ", " two "])
    talk.run()
    (first_s, first), (second_s, second) = talk.sent
    assert (first, second) == ("one", "two")
    assert 0.8 <= second_s - first_s < 1.0
    assert second_s + 1.5 <= talk.clock.now() < second_s + 1.7
    assert talk.notices == ["PortAudio is missing. The answers are written alone."]
    assert talk.transport.output is None


def test_without_a_loudspeaker_an_answer_runs_on_in_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_sound(monkeypatch)
    talk = Talk([])
    talk.transport.playback.write(
        np.full(12_000, 0.1, np.float32), ANSWER, "hello", stale=lambda: False
    )
    talk.transport.playback.finish(ANSWER)
    talk.run()
    assert talk.played == 2, "begun and ended"
    assert 1.5 <= talk.clock.now() < 1.7


def test_a_keyboard_ends_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    no_sound(monkeypatch)
    talk = Talk(None)

    def leave() -> None:
        talk.clock.wait_until(60.0)
        talk.transport.stop()

    talk.clock.start(leave, "s2s-test")
    talk.run()
    assert talk.clock.now() == pytest.approx(60.0, abs=0.1)


def test_answers_go_to_the_loudspeaker_and_on_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePortAudio([device("Box", 0, 2)], (-1, 0))
    plug(monkeypatch, fake)
    talk = Talk(None)
    assert talk.transport.output is not None
    assert talk.transport.output.name == "Box"
    seen: list[int] = []

    def unplug() -> None:
        talk.clock.wait_until(0.5)
        seen.append(len(fake.streams))
        fake.streams[0].active = False
        talk.clock.wait_until(1.0)
        seen.append(len(fake.streams))
        talk.transport.stop()

    talk.clock.start(unplug, "s2s-test")
    talk.run()
    assert seen == [1, 0]
    assert talk.notices == ["'Box' plays no more sound: the answers go on in writing"]
    assert talk.transport.output is None


def test_a_loudspeaker_that_cannot_be_opened_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePortAudio([device("Box", 0, 2)], (-1, 0))
    fake.busy = True
    plug(monkeypatch, fake)
    talk = Talk(["one"])
    talk.run()
    assert [line for _, line in talk.sent] == ["one"]
    assert talk.notices[0].startswith("'Box' cannot be opened")
    assert talk.notices[0].endswith("the answers go on in writing")
