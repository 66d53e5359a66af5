"""What the microphone's windows become behind the canceller, and who may speak."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, read_wav, rms_db
from s2s.core.clock import ManualClock
from s2s.testing.echo_room import LoudspeakerPath, OpenLoudspeaker
from s2s.transport.echo import EchoCanceller
from s2s.transport.echo_path import Cleaned, EchoPath
from tests.support.recordings import DATA

PATH = LoudspeakerPath(delay_ms=90.0, clip=0.1, gain_db=-10.0, noise_db=-70.0)


def speech(name: str, peak: float) -> Block:
    audio, _ = read_wav(DATA / f"librivox_{name}.wav", PIPELINE_HZ)
    whole = audio[: len(audio) // BLOCK_SAMPLES * BLOCK_SAMPLES]
    return (whole * (peak / np.abs(whole).max())).astype(np.float32)


class Room:
    """A loudspeaker and a microphone at an echo path, without a canceller if not given."""

    def __init__(
        self, path: LoudspeakerPath = PATH, canceller: Literal["on", "off"] = "off"
    ) -> None:
        self.notices: list[str] = []
        self.path = EchoPath(canceller, PIPELINE_HZ, ManualClock(), self.notices.append)
        self._loudspeaker = OpenLoudspeaker(path)

    def hear(self, played: Block, person: Block | None = None) -> list[Cleaned]:
        cleaned: list[Cleaned] = []
        for start in range(0, len(played), BLOCK_SAMPLES):
            block = played[start : start + BLOCK_SAMPLES]
            near = self._loudspeaker.echo(block) + self._loudspeaker.noise(len(block))
            if person is not None:
                said = person[start : start + BLOCK_SAMPLES]
                near[: len(said)] += said
            self.path.played.write(block)
            cleaned.append(self.path.clean(near.astype(np.float32)))
        return cleaned


def silence(seconds: float) -> Block:
    return np.zeros(int(seconds * PIPELINE_HZ) // BLOCK_SAMPLES * BLOCK_SAMPLES, dtype=np.float32)


def level_db(cleaned: list[Cleaned]) -> float:
    return rms_db(np.concatenate([each.block for each in cleaned]))


def test_what_the_echo_explains_is_turned_down() -> None:
    room = Room()
    room.hear(speech("0870", 0.5))
    echo = room.hear(speech("0890", 0.5))
    before = rms_db(np.concatenate([each.cancelled for each in echo]))
    assert level_db(echo) <= before - 10.0


def test_a_person_passes_as_they_are() -> None:
    room = Room()
    person = speech("0920", 0.5)
    passed = room.hear(silence(len(person) / PIPELINE_HZ), person)
    for each in passed:
        np.testing.assert_array_equal(each.block, each.cancelled)
    assert all(each.over_echo_db == math.inf for each in passed)


def test_once_an_echo_is_known_the_person_may_interrupt_without_a_warm_up() -> None:
    room = Room()
    room.hear(silence(1.0), None)
    room.hear(silence(7.0), speech("0920", 0.5))
    room.hear(speech("0870", 0.4)[: 24 * BLOCK_SAMPLES])
    assert room.path.half_duplex
    room.hear(speech("0870", 0.4)[24 * BLOCK_SAMPLES : 90 * BLOCK_SAMPLES])
    assert not room.path.half_duplex


def test_an_echo_as_loud_as_the_person_means_half_duplex_and_it_is_said() -> None:
    room = Room(replace(PATH, clip=1.0, gain_db=6.0))
    room.hear(silence(7.0), speech("0920", 0.05))
    room.hear(np.concatenate([speech("0870", 0.5), speech("0890", 0.5)]))
    assert room.path.half_duplex
    assert "headphones" in room.notices[0].lower()


@pytest.mark.parametrize(("gain_db", "weak"), [(-20.0, True), (6.0, False)])
def test_over_a_weak_echo_the_person_is_heard_without_the_canceller(
    gain_db: float, weak: bool
) -> None:
    room = Room(replace(PATH, gain_db=gain_db), "on")
    room.hear(silence(7.0), speech("0920", 0.5))
    room.hear(np.concatenate([speech("0870", 0.5), speech("0890", 0.5)]))
    person = speech("0920", 0.5)[: 60 * BLOCK_SAMPLES]
    heard = room.hear(speech("0880", 0.5)[: len(person)], person)
    latency = EchoCanceller.latency_samples
    passed = np.concatenate([each.cancelled for each in heard])[latency:]
    rest = passed - person[:-latency]
    assert (rms_db(rest) < rms_db(person) - 10.0) is weak
