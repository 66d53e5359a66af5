"""What is sent of the microphone: sound, silence in its place, or nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.messages import AudioIn
from s2s.testing.simulator import tone
from s2s.transport.remote.microphone import RemoteMicrophone
from s2s.transport.remote.wishes import RemoteWishes


def windows(seconds: float, *, over_echo_db: float = math.inf, gain: float = 1.0) -> list[AudioIn]:
    sound = gain * tone(seconds)
    return [
        AudioIn(sound[at : at + BLOCK_SAMPLES], at + BLOCK_SAMPLES, at / 16_000, True, over_echo_db)
        for at in range(0, len(sound) - BLOCK_SAMPLES, BLOCK_SAMPLES)
    ]


def sent(microphone: RemoteMicrophone, heard: list[AudioIn], **options: bool) -> np.ndarray:
    given = {"own_voice": False, **options}
    blocks = [microphone.sent(window, **given) for window in heard]
    return np.concatenate([np.zeros(0), *(block for block in blocks if block is not None)])


def test_the_stream_goes_on_in_silence_while_it_is_muted() -> None:
    microphone = RemoteMicrophone(RemoteWishes(muted=True))
    assert not sent(microphone, windows(1.0)).any()
    microphone.muted = False
    assert np.abs(sent(microphone, windows(1.0))).max() > 0.05


def test_nothing_is_sent_while_the_talk_key_is_up() -> None:
    microphone = RemoteMicrophone(RemoteWishes(push_to_talk=True))
    assert not len(sent(microphone, windows(1.0)))
    microphone.talking = True
    assert len(sent(microphone, windows(1.0))) > 20_000
    microphone.muted = True
    assert not sent(microphone, windows(1.0))[2000:].any()


@pytest.mark.parametrize(("over_echo_db", "heard"), [(math.inf, True), (15.0, True), (0.0, False)])
def test_what_its_own_echo_explains_is_sent_as_silence(over_echo_db: float, heard: bool) -> None:
    microphone = RemoteMicrophone(RemoteWishes())
    assert sent(microphone, windows(1.0, over_echo_db=over_echo_db)).any() == heard


def test_half_duplex_sends_silence_while_it_plays() -> None:
    microphone = RemoteMicrophone(RemoteWishes())
    assert not sent(microphone, windows(1.0), own_voice=True).any()


def test_it_knows_when_the_voice_was_heard_last() -> None:
    microphone = RemoteMicrophone(RemoteWishes())
    sent(microphone, windows(1.0))
    spoke_s = microphone.voice_at_s
    assert spoke_s == pytest.approx(0.96, abs=0.05)
    sent(microphone, windows(1.0, gain=1e-4))
    assert microphone.voice_at_s == spoke_s
