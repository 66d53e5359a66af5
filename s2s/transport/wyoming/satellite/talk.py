"""What a satellite does with what it hears and is told: it sleeps until a wake word, streams what
is said behind it, plays the answer, and is interrupted.

Home Assistant runs the pipeline; what it wants of a satellite is in the official package's
`wyoming.satellite`, `wyoming.pipeline` and `wyoming.snd`, what is decided here instead in
docs/decisions/the-satellite-decides-here.md. Time is counted in samples. For one thread; knows no
socket and no sound card.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Protocol

import numpy as np
from wyoming.audio import AudioChunk, AudioStop
from wyoming.event import Event, Eventable
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import StreamingStarted, StreamingStopped
from wyoming.snd import Played
from wyoming.wake import Detection

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, to_int16
from s2s.core.messages import AudioIn
from s2s.transport.wyoming.satellite.config import SatelliteConfig
from s2s.turns.base import VadModel, WakeModel
from s2s.turns.over_echo import OverEcho
from s2s.turns.segmenter import Segmenter, SegmenterConfig
from s2s.turns.speech_events import ProvisionalEnd, Started

KEPT_S = 2.5
"""Sound that is kept from before one knows that it is meant: words behind the wake word, and those
with which somebody interrupts."""
WIDTH = 2
"""Bytes of a sample."""


class AnswerSound(Protocol):
    """The loudspeaker: plays what Home Assistant sends."""

    @property
    def sounding(self) -> bool:
        """Something is played, or waits to be."""
        ...

    def begin(self) -> None:
        """Sound comes."""
        ...

    def add(self, event: Event) -> None:
        """More of it, as `audio-chunk`."""
        ...

    def end(self) -> None:
        """That was all of it."""
        ...

    def cut(self) -> None:
        """Silence at once, also for what still comes of the sound that is coming."""
        ...

    def ring(self) -> None:
        """A timer has ended."""
        ...


class _Doing(Enum):
    AWAY = auto()
    """Home Assistant is not there, or wants nothing."""
    ASLEEP = auto()
    """Until a wake word."""
    HEARING = auto()
    """What is said is streamed."""


class SatelliteTalk:
    """One satellite.

    Args:
        words: the wake words, by the names that Home Assistant knows.
        sound: plays.
        send: tells Home Assistant; never waits.
        echo_bar_db: how much louder than its echo speech must be to be somebody's.
    """

    def __init__(
        self,
        config: SatelliteConfig,
        words: Mapping[str, WakeModel],
        vad: VadModel,
        sound: AnswerSound,
        send: Callable[[Eventable], None],
        *,
        echo_bar_db: float,
    ) -> None:
        self._config = config
        self._words = {name: model.open() for name, model in words.items()}
        self._vad = vad.open()
        self._sound = sound
        self._send = send
        self._over_echo = OverEcho(echo_bar_db)
        self._segmenter = Segmenter(
            SegmenterConfig(
                min_silence_ms=config.end_ms, max_turn_ms=int(1000 * config.max_speech_s)
            )
        )
        self._recent: deque[Block] = deque(maxlen=int(KEPT_S * PIPELINE_HZ / BLOCK_SAMPLES))
        self._doing = _Doing.AWAY
        self._since = 0
        """Sample at which it began to hear what is said."""
        self._spoke = False
        """Somebody has spoken since then."""

    @property
    def hearing(self) -> bool:
        """What is said goes to Home Assistant."""
        return self._doing is _Doing.HEARING

    # --- what Home Assistant wants -------------------------------------------------------------

    def take(self, event: Event) -> None:
        """An event of Home Assistant. Kinds that mean nothing here are passed over."""
        match event.type:
            case "run-satellite":
                self._sleep()
            case "pause-satellite":
                self.away()
            case "voice-stopped" | "transcript" | "error":
                self._stop_hearing(tell=False)
            case "run-pipeline" if self._doing is not _Doing.AWAY:
                self._stop_hearing(tell=False)
                self._silence()
                if event.data.get("start_stage") == PipelineStage.ASR.value:
                    self._hear(None, self._segmenter.sample)
            case "audio-start":
                self._sound.begin()
            case "audio-chunk":
                self._sound.add(event)
            case "audio-stop":
                self._sound.end()
            case "timer-finished":
                self._sound.ring()
            case _:
                pass

    def away(self) -> None:
        """Home Assistant has gone, or wants nothing for now."""
        self._stop_hearing(tell=True)
        self._doing = _Doing.AWAY
        self._sound.cut()

    def played(self) -> None:
        """Sound was played to its end."""
        self._send(Played())

    # --- what the microphone hears -------------------------------------------------------------

    def hear(self, window: AudioIn, *, own_voice: bool) -> None:
        """The next window of 512 samples.

        Args:
            own_voice: something plays, and the microphone cannot be relied on not to hear it.
        """
        if self._doing is _Doing.AWAY:
            return
        block = np.zeros_like(window.block) if own_voice else window.block
        self._recent.append(block)
        woken = self._woken(block)
        speech = self._over_echo.probability(self._vad.probability(block), window.over_echo_db)
        events = self._segmenter.push(block, speech)
        started = next((event for event in events if isinstance(event, Started)), None)
        if self._doing is _Doing.HEARING:
            self._chunk(block)
            self._spoke = self._spoke or started is not None
            ended = any(isinstance(event, ProvisionalEnd) for event in events)
            if (self._spoke and ended) or self._waited_long_enough():
                self._stop_hearing(tell=True)
        elif woken is not None:
            name, over_for = woken
            self._segmenter.reset()
            self._silence()
            self._hear(name, self._segmenter.sample - over_for)
        elif started is not None and self._sound.sounding and self._interrupts:
            self._silence()
            self._hear(None, started.start_sample)
            self._spoke = True
        elif any(isinstance(event, ProvisionalEnd) for event in events):
            self._segmenter.close()  # what was not meant for it

    @property
    def _interrupts(self) -> bool:
        return self._config.interrupt == "speech"

    def _woken(self, block: Block) -> tuple[str, int] | None:
        """The wake word that was just said, and for how many samples it has been over."""
        found: tuple[str, int] | None = None
        for name, stream in self._words.items():
            if (over_for := stream.heard(block)) is not None and found is None:
                found = name, over_for
        return found

    def _waited_long_enough(self) -> bool:
        heard_s = (self._segmenter.sample - self._since) / PIPELINE_HZ
        return heard_s > (self._config.max_speech_s if self._spoke else self._config.no_speech_s)

    # --- what it tells -------------------------------------------------------------------------

    def _sleep(self) -> None:
        self._stop_hearing(tell=True)
        self._segmenter.reset()
        self._doing = _Doing.ASLEEP

    def _silence(self) -> None:
        """An answer is not wanted any more: for Home Assistant it is over."""
        if self._sound.sounding:
            self._sound.cut()
            self._send(Played())

    def _hear(self, word: str | None, start: int) -> None:
        """Have what is said from sample `start` on understood and answered."""
        sample = self._segmenter.sample
        if word is not None:
            self._send(Detection(word, timestamp=1000 * start // PIPELINE_HZ))
        self._send(RunPipeline(PipelineStage.ASR, PipelineStage.TTS, wake_word_name=word))
        self._send(StreamingStarted())
        self._doing, self._since, self._spoke = _Doing.HEARING, sample, False
        said = np.concatenate([np.zeros(0, np.float32), *self._recent])
        wanted = min(len(said), max(0, sample - start))
        if wanted:
            self._chunk(said[len(said) - wanted :])

    def _stop_hearing(self, *, tell: bool) -> None:
        """Stream no more. tell: Home Assistant does not know yet that it has ended."""
        if self._doing is not _Doing.HEARING:
            return
        self._doing = _Doing.ASLEEP
        self._segmenter.reset()
        if tell:
            self._send(AudioStop())
        self._send(StreamingStopped())

    def _chunk(self, block: Block) -> None:
        data = to_int16(block).astype("<i2").tobytes()
        ends_ms = 1000 * self._segmenter.sample // PIPELINE_HZ
        begins_ms = max(0, ends_ms - 1000 * len(block) // PIPELINE_HZ)
        self._send(AudioChunk(PIPELINE_HZ, WIDTH, 1, data, timestamp=begins_ms))
