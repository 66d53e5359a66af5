"""How much may wait between the stages, and that each stage stands between two of the channels."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.clock import ManualClock
from s2s.core.handler import Handler
from s2s.session.channels import SENDER_WAITING, Channels, sound_waiting
from s2s.transport.playback import Playback
from s2s.tts.base import Capabilities
from s2s.tts.handler import TtsSettings


class Passes(Handler[object, object]):
    """Hands on what it gets, with its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def process(self, message: object) -> Iterable[object]:
        yield f"{message} {self.name}"

    def failed(self, message: object, error: Exception) -> Iterable[object]:
        return ()


def test_what_is_said_goes_through_all_stages_in_order() -> None:
    clock = ManualClock()
    channels = Channels.open(clock, 8)
    ends: list[str] = []

    class Ends(Passes):
        def process(self, message: object) -> Iterable[object]:
            ends.append(f"{message} {self.name}")
            return ()

    names = ("turns", "stt", "llm", "tts")
    stages = channels.join(*(Passes(name) for name in names), Ends("sender"), clock)  # type: ignore
    for stage in stages:
        stage.start()
    channels.microphone.put("sound")  # type: ignore[arg-type]
    channels.microphone.close()
    assert all(stage.join(5.0) for stage in stages)
    assert ends == ["sound turns stt llm tts sender"]


class Ahead:
    def __init__(self, ahead_s: float) -> None:
        self.capabilities = Capabilities(24_000, True, ("en",), ahead_s=ahead_s)


@pytest.mark.parametrize(
    ("ahead_s", "real_time_factor", "seconds"),
    [
        (0.0, 0.5, 0.0),  # quick: playback alone holds enough
        (6.0, 0.5, 6.0),  # what the voice makes ahead
        (0.0, 2.0, 10.0),  # a slow one: half of the longest piece of 20 s
        (3.0, 1.25, 4.0),
    ],
)
def test_what_a_voice_makes_ahead_has_room(
    ahead_s: float, real_time_factor: float, seconds: float
) -> None:
    playback = Playback(ManualClock(), 24_000, capacity_s=2.0)
    settings = TtsSettings(24_000, real_time_factor=real_time_factor)
    blocks = sound_waiting(Ahead(ahead_s), settings, playback)  # pyright: ignore
    beside = max(0.0, seconds - 2.0) * 24_000 / BLOCK_SAMPLES
    assert max(SENDER_WAITING, beside) <= blocks <= max(SENDER_WAITING, beside + 1)
