"""What a satellite streams, plays and tells, by what it hears; in samples, without a sound card."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import PauseSatellite, RunSatellite
from wyoming.snd import Played
from wyoming.timer import TimerFinished
from wyoming.vad import VoiceStopped
from wyoming.wake import Detection

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ
from s2s.testing.simulator import tone
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from tests.support.satellite import OVER_FOR, Listener, beep, said, silence
from tests.support.wyoming import types

BEGUN = ["detection", "run-pipeline", "streaming-started", "audio-chunk"]
ENDED = ["audio-stop", "streaming-stopped"]


def running(config: SatelliteConfig | None = None) -> Listener:
    """Home Assistant is there."""
    listener = Listener(config)
    listener.talk.take(RunSatellite().event())
    return listener


def seconds_of(events: list[Event]) -> float:
    """Of streamed sound."""
    chunks = [AudioChunk.from_event(each) for each in events if AudioChunk.is_type(each.type)]
    assert all((each.rate, each.width, each.channels) == (16_000, 2, 1) for each in chunks)
    return sum(each.samples for each in chunks) / PIPELINE_HZ


def answering(config: SatelliteConfig | None = None) -> Listener:
    """Something was asked, and the answer is being played."""
    listener = running(config)
    listener.hear(np.concatenate([beep(), silence(0.3), said()]))
    listener.talk.take(AudioStart(22_050, 2, 1).event())
    listener.talk.take(AudioChunk(22_050, 2, 1, bytes(2048)).event())
    listener.events()
    return listener


def test_it_sleeps_until_the_wake_word_and_streams_what_follows() -> None:
    listener = running()
    listener.hear(said())
    assert listener.events() == []
    listener.hear(np.concatenate([beep(), silence(0.3), said()]))
    events = listener.events()
    assert types(events) == [*BEGUN, *ENDED]
    detection, asked = Detection.from_event(events[0]), RunPipeline.from_event(events[1])
    assert detection.name == "beep"
    assert asked == RunPipeline(
        PipelineStage.ASR, PipelineStage.TTS, wake_word_name="beep", restart_on_end=False
    )
    # silence before the words, the words, and the silence that ended them
    assert seconds_of(events) == pytest.approx(0.3 + 1.0 + 0.7, abs=0.1)
    listener.hear(said())
    assert listener.events() == []


def test_words_that_follow_the_wake_word_at_once_are_streamed_from_its_end_on() -> None:
    listener = running()
    listener.hear(np.concatenate([beep(32 * BLOCK_SAMPLES / PIPELINE_HZ), tone(1.0)]))
    events = listener.events()
    first = AudioChunk.from_event(events[3])
    assert first.samples == OVER_FOR
    assert first.timestamp == Detection.from_event(events[0]).timestamp


def test_a_wake_word_that_nothing_follows_is_forgotten() -> None:
    listener = running(SatelliteConfig(no_speech_s=2.0))
    listener.hear(np.concatenate([beep(), silence(4.0)]))
    events = listener.events()
    assert types(events) == [*BEGUN, *ENDED]
    assert seconds_of(events) == pytest.approx(2.0, abs=0.1)


def test_what_is_said_has_a_longest() -> None:
    listener = running(SatelliteConfig(max_speech_s=3.0))
    listener.hear(np.concatenate([beep(), tone(6.0)]))
    events = listener.events()
    assert types(events) == [*BEGUN, *ENDED]
    assert seconds_of(events) == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(
    "event", [VoiceStopped(timestamp=1), Transcript("lights on"), Error("no words")]
)
def test_home_assistant_may_end_it_first(
    event: VoiceStopped | Transcript | Error,
) -> None:
    listener = running()
    listener.hear(np.concatenate([beep(), tone(1.0)]))
    listener.talk.take(event.event())
    listener.hear(tone(1.0))
    assert types(listener.events()) == [*BEGUN, "streaming-stopped"]


def test_somebody_who_speaks_silences_the_answer_and_is_heard_from_the_first_word_on() -> None:
    listener = answering()
    listener.hear(np.concatenate([silence(0.5), said(1.0)]))
    events = listener.events()
    assert types(events) == ["played", "run-pipeline", "streaming-started", "audio-chunk", *ENDED]
    assert listener.sound.told[-1] == "cut"
    assert RunPipeline.from_event(events[1]).wake_word_name is None
    assert seconds_of(events) == pytest.approx(0.5 + 1.0 + 0.7, abs=0.15)  # with its pre-roll


def test_a_wake_word_silences_the_answer_too() -> None:
    listener = answering(SatelliteConfig(interrupt="wake_word"))
    listener.hear(said())
    assert listener.events() == []
    listener.hear(np.concatenate([beep(), said()]))
    assert types(listener.events())[:2] == ["played", "detection"]


def test_its_own_voice_is_nobody_s() -> None:
    listener = answering()
    listener.hear(np.concatenate([beep(), said()]), own_voice=True)
    assert listener.events() == []
    assert listener.sound.sounding


def test_an_announcement_is_played_while_it_sleeps_and_told_when_it_was() -> None:
    listener = running()
    for event in (AudioStart(22_050, 2, 1), AudioChunk(22_050, 2, 1, b"ab"), AudioStop()):
        listener.talk.take(event.event())
    assert listener.sound.told == ["begin", "add", "end"]
    listener.talk.played()
    assert [event.type for event in listener.events()] == [Played().event().type]


def test_it_can_be_woken_from_afar() -> None:
    listener = answering()
    asked = RunPipeline(PipelineStage.ASR, PipelineStage.TTS)
    listener.talk.take(asked.event())
    listener.hear(said())
    assert types(listener.events())[:4] == [
        "played",
        "run-pipeline",
        "streaming-started",
        "audio-chunk",
    ]


def test_a_timer_rings() -> None:
    listener = running()
    listener.talk.take(TimerFinished("1").event())
    assert listener.sound.told == ["ring"]


def test_paused_it_hears_nothing_and_is_silent() -> None:
    listener = running()
    listener.hear(np.concatenate([beep(), tone(1.0)]))
    listener.talk.take(PauseSatellite().event())
    assert types(listener.events()) == [*BEGUN, *ENDED]
    assert listener.sound.told == ["cut"]
    listener.hear(np.concatenate([beep(), said()]))
    assert listener.events() == []


PARTS = st.sampled_from(["beep", "speech", "pause", "run", "off", "voice", "sound", "error"])


@given(st.lists(PARTS, max_size=12))
def test_whatever_happens_streams_are_opened_and_closed_in_turn(parts: list[str]) -> None:
    listener = Listener()
    heard = {"beep": beep(), "speech": tone(0.8), "pause": silence(1.0)}
    told = {
        "run": RunSatellite(),
        "off": PauseSatellite(),
        "voice": VoiceStopped(),
        "sound": AudioStart(16_000, 2, 1),
        "error": Error("none"),
    }
    for part in parts:
        if part in heard:
            listener.hear(heard[part])
        else:
            listener.talk.take(told[part].event())
    listener.talk.take(PauseSatellite().event())
    streaming = False
    for event in listener.events():
        match event.type:
            case "streaming-started":
                assert not streaming
                streaming = True
            case "streaming-stopped":
                assert streaming
                streaming = False
            case "audio-chunk" | "audio-stop":
                assert streaming
            case _:
                assert event.type in ("detection", "run-pipeline", "played")
    assert not streaming
