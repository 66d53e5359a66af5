"""Echo: cancelled on real speech in an invented room, measured, announced, recognised in text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, read_wav, rms_db
from s2s.models.store import Store
from s2s.transport.echo import (
    DuplexConfig,
    DuplexGuard,
    EchoCanceller,
)
from s2s.turns.segmenter import Segmenter, Started
from s2s.turns.vad import SileroVad

DATA = Path(__file__).parents[1] / "data"
BLOCK = 512


def recording(name: str) -> Block:
    audio, _ = read_wav(DATA / f"{name}.wav", PIPELINE_HZ)
    return audio * np.float32(0.5 / np.abs(audio).max())


@pytest.fixture(scope="module")
def played() -> Block:
    """16 s of speech from the speaker."""
    names = ["librivox_0870", "librivox_0890", "librivox_0880"]
    joined = np.concatenate([recording(name) for name in names])
    return joined[: len(joined) // BLOCK * BLOCK]


def in_the_room(audio: Block, loudness: float = 0.4) -> Block:
    """What a microphone hears of it: 40 ms later, with 150 ms of reverberation, and noise."""
    random = np.random.default_rng(3)
    response = np.zeros(3200)
    response[640] = 1.0
    tail = random.standard_normal(2400) * np.exp(-np.arange(2400) / 400.0)
    response[700:3100] += 0.25 * tail
    echo = np.convolve(audio, response)[: len(audio)] * loudness
    return (echo + random.standard_normal(len(audio)) * 3e-4).astype(np.float32)


def cancel(canceller: EchoCanceller, near: Block, far: Block, block: int = BLOCK) -> Block:
    starts = range(0, len(near), block)
    return np.concatenate(
        [canceller.process(near[i : i + block], far[i : i + block]) for i in starts]
    )


def measure_erle_db(near: Block, cleaned: Block, *, latency_samples: int) -> float:
    """Echo return loss enhancement over a recording without near speech, dB; both float32
    [samples], `cleaned` comes `latency_samples` late."""
    left = cleaned[latency_samples:]
    return rms_db(near[: len(left)]) - rms_db(left)


def canceller() -> EchoCanceller:
    pytest.importorskip("pywebrtc_audio")
    return EchoCanceller()


def test_echo_is_cancelled_by_25_db_after_the_warm_up(played: Block) -> None:
    near = in_the_room(played)
    cleaned = cancel(canceller(), near, played)
    warm = 3 * PIPELINE_HZ
    assert measure_erle_db(near[warm:], cleaned[warm:], latency_samples=160) >= 25.0


def test_any_block_size_gives_the_same_samples(played: Block) -> None:
    near = in_the_room(played)[: 2 * PIPELINE_HZ]
    far = played[: 2 * PIPELINE_HZ]
    expected = cancel(canceller(), near, far, 160)
    for block in (100, 512, 1000):
        np.testing.assert_array_equal(cancel(canceller(), near, far, block), expected)


def test_without_playback_speech_passes() -> None:
    speech = recording("librivox_0930")
    cleaned = cancel(canceller(), speech, np.zeros_like(speech))
    before, after = (
        np.sqrt(np.square(audio[: len(speech) // 480 * 480]).reshape(-1, 480).mean(axis=1))
        for audio in (speech, cleaned)
    )
    similarity = max(
        np.corrcoef(before[:-2], after[late:][: len(before) - 2])[0, 1] for late in (0, 1, 2)
    )
    assert similarity > 0.9
    assert abs(rms_db(speech) - rms_db(cleaned)) < 3.0


def test_blocks_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(512,\) and \(511,\)"):
        canceller().process(np.zeros(512, np.float32), np.zeros(511, np.float32))


@pytest.mark.models
def test_the_voice_detector_hears_the_person_and_not_the_echo(played: Block) -> None:
    person = recording("librivox_0920")
    start = 8 * PIPELINE_HZ
    near = in_the_room(played)
    near[start : start + len(person)] += person[: len(near) - start]
    cleaned = cancel(canceller(), near, played)
    vad, segmenter = SileroVad(Store().path("silero-vad")).open(), Segmenter()
    started: list[Started] = []
    for i in range(3 * PIPELINE_HZ // BLOCK, len(cleaned) // BLOCK):
        block = cleaned[i * BLOCK_SAMPLES : (i + 1) * BLOCK_SAMPLES]
        events = segmenter.push(block, vad.probability(block))
        started += [event for event in events if isinstance(event, Started)]
    onset_s = started[0].onset_sample / PIPELINE_HZ + 3.0
    assert abs(onset_s - (8.0 + 0.246)) <= 0.4


# --- the guard -----------------------------------------------------------------------------------


def noise(seconds: float, level_db: float, seed: int = 0) -> Block:
    random = np.random.default_rng(seed)
    amplitude = 10.0 ** (level_db / 20.0)
    return (random.standard_normal(int(seconds * PIPELINE_HZ)) * amplitude).astype(np.float32)


def measure(
    guard: DuplexGuard, seconds: float, far_db: float, near_db: float, left_db: float
) -> list[str]:
    said = [
        guard.hear(noise(0.032, near_db), noise(0.032, far_db), noise(0.032, left_db))
        for _ in range(int(seconds / 0.032))
    ]
    return [text for text in said if text is not None]


def test_nothing_interrupts_in_the_first_three_seconds_of_playback() -> None:
    guard = DuplexGuard()
    measure(guard, 2.0, -100.0, -60.0, -60.0)
    assert guard.half_duplex
    assert measure(guard, 2.5, -20.0, -25.0, -58.0) == []
    assert guard.half_duplex
    assert measure(guard, 1.0, -20.0, -25.0, -58.0) == []
    assert not guard.half_duplex


def test_headphones_need_no_warm_up() -> None:
    guard = DuplexGuard()
    measure(guard, 2.0, -100.0, -60.0, -60.0)
    assert measure(guard, 1.5, -20.0, -60.0, -60.0) == []
    assert not guard.half_duplex
    assert guard.erle_db is None


def test_a_canceller_that_does_not_work_means_half_duplex_and_it_is_said() -> None:
    guard = DuplexGuard()
    measure(guard, 2.0, -100.0, -60.0, -60.0)
    (said,) = measure(guard, 6.0, -20.0, -25.0, -29.0)
    assert "4 dB" in said
    assert guard.half_duplex
    assert guard.erle_db == pytest.approx(4.0, abs=1.0)
    (said,) = measure(guard, 8.0, -20.0, -25.0, -55.0)
    assert "again" in said
    assert not guard.half_duplex


def test_the_person_speaking_now_and_then_is_not_echo() -> None:
    guard = DuplexGuard()
    measure(guard, 2.0, -100.0, -60.0, -60.0)
    for _ in range(20):
        assert measure(guard, 1.4, -20.0, -25.0, -58.0) == []
        assert measure(guard, 0.6, -20.0, -18.0, -20.0) == []
    assert not guard.half_duplex


def test_an_echo_far_below_the_person_is_weak_until_it_gets_louder() -> None:
    guard = DuplexGuard()
    measure(guard, 1.0, -100.0, -60.0, -60.0)
    measure(guard, 4.0, -20.0, -32.0, -58.0)
    assert not guard.weak_echo  # nobody has spoken
    measure(guard, 1.0, -100.0, -60.0, -60.0)
    measure(guard, 1.5, -100.0, -25.0, -25.0)
    measure(guard, 1.0, -20.0, -32.0, -58.0)
    assert guard.weak_echo
    measure(guard, 6.0, -20.0, -30.0, -58.0)
    assert guard.weak_echo
    measure(guard, 6.0, -20.0, -27.0, -58.0)
    assert not guard.weak_echo
    measure(guard, 6.0, -20.0, -30.0, -58.0)
    assert not guard.weak_echo


def test_pauses_of_a_person_in_digital_silence_are_not_their_level() -> None:
    guard = DuplexGuard()
    measure(guard, 2.0, -100.0, -110.0, -110.0)
    for _ in range(6):
        measure(guard, 0.4, -100.0, -20.0, -20.0)
        measure(guard, 0.6, -100.0, -70.0, -70.0)
    assert measure(guard, 4.0, -20.0, -30.0, -30.0) == []
    assert guard.weak_echo
    assert not guard.half_duplex


def test_hearing_its_own_words_twice_in_a_minute_means_half_duplex() -> None:
    guard = DuplexGuard()
    measure(guard, 4.0, -20.0, -25.0, -58.0)
    assert guard.self_heard() is None
    measure(guard, 61.0, -100.0, -60.0, -60.0)
    assert guard.self_heard() is None
    assert not guard.half_duplex
    said = guard.self_heard()
    assert said is not None
    assert "own words" in said
    assert guard.half_duplex


@pytest.mark.parametrize("wrong", [{"min_erle_db": 20.0}, {"warm_up_s": -1.0}, {"self_heard": 0}])
def test_a_wrong_config_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        DuplexConfig(**wrong)  # pyright: ignore[reportArgumentType]
