"""Sound as the protocol carries it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.event import Event

from s2s.core.audio import Block, from_int16
from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.pcm import CHUNK_SAMPLES, PcmStream, pcm_chunks


def chunk(data: bytes, rate: int = 16_000, width: int = 2, channels: int = 1) -> Event:
    values: dict[str, object] = {"rate": rate, "width": width, "channels": channels}
    return Event("audio-chunk", values, data)


def heard(stream: PcmStream, events: list[Event]) -> Block:
    return np.concatenate([*(stream.push(event) for event in events), stream.flush()])


@given(st.lists(st.integers(-32768, 32767), max_size=40), st.lists(st.integers(0, 80), max_size=5))
def test_any_split_gives_the_same_sound(samples: list[int], cuts: list[int]) -> None:
    pcm = np.array(samples, "<i2")
    data = pcm.tobytes()
    at = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    events = [chunk(data[a:b]) for a, b in itertools.pairwise(at)]
    assert np.array_equal(heard(PcmStream(), events), from_int16(pcm.astype(np.int16)))


@pytest.mark.parametrize("width", [2, 3, 4])
def test_every_width_is_the_same_sound(width: int) -> None:
    wide = (np.array([0, 1 << 30, -(1 << 30), -(1 << 31)], "<i4")).view(np.uint8).reshape(-1, 4)
    sound = heard(PcmStream(), [chunk(wide[:, 4 - width :].tobytes(), width=width)])
    assert np.allclose(sound, [0, 0.5, -0.5, -1])


def test_channels_are_mixed_and_rates_are_changed() -> None:
    stereo = np.tile(np.array([8_192, 16_384], "<i2"), 4_800)
    sound = heard(PcmStream(), [chunk(stereo.tobytes(), 48_000, 2, 2)])
    assert abs(len(sound) - 1_600) <= 1
    assert np.allclose(sound[200:-200], 0.375, atol=0.01)


@pytest.mark.parametrize("wrong", [{"rate": 1}, {"width": 1}, {"width": 5}, {"channels": 0}])
def test_a_format_that_cannot_be_is_told(wrong: dict[str, int]) -> None:
    with pytest.raises(WireFault, match="send PCM of 16000 Hz"):
        PcmStream().push(chunk(b"", **wrong))


def test_what_is_sent_is_in_pieces_and_is_all_of_it() -> None:
    sound = np.linspace(-1, 1, 2 * CHUNK_SAMPLES + 5, dtype=np.float32)
    pieces = list(pcm_chunks(sound))
    assert [len(each) for each in pieces] == [2 * CHUNK_SAMPLES, 2 * CHUNK_SAMPLES, 10]
    back = np.frombuffer(b"".join(pieces), "<i2") / 32_768
    assert np.allclose(back, sound, atol=1e-4)
