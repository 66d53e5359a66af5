"""One stream of sound that is to be written down: when somebody speaks, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer, empty
from s2s.core.audio.gain import raised
from s2s.core.work import Work
from s2s.stt.base import Transcription
from s2s.stt.stable import StableWords
from s2s.transport.threaded import Stop
from s2s.transport.wyoming.services import WyomingServices
from s2s.turns.segmenter import Segmenter, SegmenterConfig
from s2s.turns.speech_events import ProvisionalEnd, Started
from s2s.turns.speech_regions import speech_regions

SILENCE_MS = 700
"""After so much silence somebody has stopped speaking."""
PARTIAL_EVERY_S = 0.5
"""Of new sound, before it is listened to for words again while it goes on."""
PARTIAL_MOST_S = 25.0
"""Of a longer speech no more words are told ahead: reading all of it again takes its time."""


@dataclass(frozen=True, slots=True)
class VoiceChange:
    """Somebody began to speak, or stopped."""

    speaks: bool
    at_ms: int
    """Since the stream began."""


class SoundToWords:
    """One stream. In any thread, in one at a time; `read_ahead` beside `hear`.

    Args:
        language: of what is said; None: heard, where the recogniser can.
        whole: all of it is to be written down; else the oldest gives way beyond `most_s`.
        most_s: as much is kept.
    """

    def __init__(
        self, services: WyomingServices, language: str | None, *, whole: bool, most_s: float
    ) -> None:
        self._services = services
        self._language = language or services.language
        self._whole = whole
        self._most = int(most_s * PIPELINE_HZ)
        self._vad = services.vad.open()
        self._segmenter = Segmenter(SegmenterConfig(min_silence_ms=SILENCE_MS))
        self._framer = Framer(BLOCK_SAMPLES)
        self._blocks: list[Block] = []
        self._kept = 0
        self._dropped = 0
        self._speech_from: int | None = None
        """Sample at which the first speech began."""
        self._read_to = 0
        self._stable = StableWords()
        self._earlier: Transcription | None = None

    @property
    def full(self) -> bool:
        """There is more sound than may be written down."""
        return self._whole and self._kept > self._most

    def hear(self, sound: Block) -> list[VoiceChange]:
        """More of it, float32 [samples at 16 kHz]."""
        self._keep(sound)
        changes: list[VoiceChange] = []
        for block in self._framer.push(sound):
            changes += self._window(block)
        return changes

    def stop(self) -> list[VoiceChange]:
        """It has ended: whoever still speaks has stopped."""
        changes: list[VoiceChange] = []
        for block in self._framer.flush():
            changes += self._window(block)
        if self._segmenter.speaking:
            changes.append(VoiceChange(False, _ms(self._dropped + self._kept)))
        self._segmenter.close()
        return changes

    def wants_to_read(self) -> bool:
        """There is so much new speech that words may have become certain."""
        if self._speech_from is None or not self._segmenter.speaking:
            return False
        heard = self._dropped + self._kept
        if heard - self._speech_from > PARTIAL_MOST_S * PIPELINE_HZ:
            return False
        if self._speech_from < self._dropped:
            return False  # its beginning is gone
        return heard - self._read_to >= PARTIAL_EVERY_S * PIPELINE_HZ

    def ahead(self) -> Callable[[Stop], str]:
        """Reads what has been said so far, in another thread: the words that are certain."""
        sound = np.concatenate([empty(), *self._blocks])
        start = (self._speech_from or 0) - self._dropped
        self._read_to = self._dropped + self._kept

        def read(stop: Stop) -> str:
            compute = self._services.compute
            compute.wait(Work.TEXT_AHEAD, stop)
            if stop():
                return self._stable.text
            with compute.working(Work.TEXT_AHEAD):
                heard = self._services.transcriber.transcribe(
                    sound[start:], language=self._language, earlier=self._earlier, stop=stop
                )
            if stop():
                return self._stable.text
            self._earlier = heard
            return self._stable.push(heard.text)

        return read

    def words(self, stop: Stop) -> Transcription:
        """All that was said; in a thread.

        Raises:
            SttError: the recogniser failed.
        """
        sound = raised(np.concatenate([empty(), *self._blocks]), PIPELINE_HZ).samples
        texts: list[str] = []
        language = self._language
        for region in speech_regions(sound, self._services.vad.open()):
            if stop():
                break
            with self._services.compute.working(Work.HEARING):
                heard = self._services.transcriber.transcribe(
                    sound[region], language=self._language, stop=stop
                )
            texts.append(heard.text.strip())
            language = heard.language or language
        return Transcription(" ".join(text for text in texts if text), language)

    def _keep(self, sound: Block) -> None:
        self._blocks.append(sound)
        self._kept += len(sound)
        while not self._whole and self._blocks and self._kept > self._most:
            gone = len(self._blocks.pop(0))
            self._kept -= gone
            self._dropped += gone

    def _window(self, block: Block) -> list[VoiceChange]:
        changes: list[VoiceChange] = []
        for event in self._segmenter.push(block, self._vad.probability(block)):
            match event:
                case Started(start_sample=start, onset_sample=onset):
                    if self._speech_from is None:
                        self._speech_from = start
                    changes.append(VoiceChange(True, _ms(onset)))
                case ProvisionalEnd(end_sample=end):
                    changes.append(VoiceChange(False, _ms(end)))
                    self._segmenter.close()
                case _:
                    pass
        return changes


def _ms(samples: int) -> int:
    return 1000 * samples // PIPELINE_HZ
