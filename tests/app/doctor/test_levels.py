"""What a microphone delivers: off, clipping, too quiet, a quiet room, speech."""

from __future__ import annotations

import numpy as np
import pytest

import s2s.app.doctor.levels
from s2s.app.doctor.levels import SECONDS, level_finding, listen
from s2s.core.audio import PIPELINE_HZ, Block, read_wav
from s2s.transport.base import DeviceError
from tests.support.recordings import DATA

SPEECH, _ = read_wav(DATA / "something.wav", PIPELINE_HZ)
NOISE = np.random.default_rng(1).normal(0, 1, 32_000).astype(np.float32)


def scaled(samples: Block, peak: float) -> Block:
    return (samples / np.abs(samples).max() * peak).astype(np.float32)


@pytest.mark.parametrize(
    ("heard", "state", "said"),
    [
        (np.zeros(32_000, np.float32), "warning", "nothing but zeros"),
        (np.zeros(0, np.float32), "warning", "nothing but zeros"),
        (scaled(SPEECH, 0.5), "ok", "at the loudest"),
        (np.clip(scaled(SPEECH, 4.0), -1, 1), "warning", "it clips"),
        (scaled(SPEECH, 0.012), "warning", "too quiet"),
        (NOISE * 1e-4, "ok", "a quiet room"),
    ],
    ids=["off", "nothing", "speech", "clips", "quiet", "room"],
)
def test_what_is_said_of_a_level(heard: Block, state: str, said: str) -> None:
    found = level_finding(heard, "Headset")
    assert found.state == state
    assert said in found.what
    assert bool(found.remedy) is (state == "warning")
    assert found.area == "level"
    assert set(found.values) == {"device", "peak", "level_db", "loud_db", "clipped"}


def test_two_seconds_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def record(*arguments: object, **_: object) -> Block:
        asked.extend(arguments[:3])
        return scaled(SPEECH, 0.5)

    monkeypatch.setattr(s2s.app.doctor.levels, "record", record)
    assert listen("Head", "Headset").state == "ok"
    assert asked == ["Head", SECONDS, PIPELINE_HZ]


def test_a_microphone_that_cannot_be_opened_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def record(*_: object, **__: object) -> Block:
        raise DeviceError("'Headset' cannot be opened")

    monkeypatch.setattr(s2s.app.doctor.levels, "record", record)
    found = listen(None, "Headset")
    assert (found.state, found.area) == ("warning", "level")
    assert "cannot be opened" in found.what
