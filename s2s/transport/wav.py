"""Recordings instead of a microphone, a file instead of a loudspeaker: the same conversation.

Paced by the clock: real time on `SystemClock`, as fast as the models go on `ManualClock`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, empty, resample, write_wav
from s2s.core.clock import Clock
from s2s.core.messages import AudioIn
from s2s.transport.playback import Playback

TICK_SAMPLES = BLOCK_SAMPLES // 4
"""Playback is pulled every 8 ms, like a sound card's callback: just before it is heard."""


@dataclass(frozen=True, slots=True)
class Line:
    """Something the person says."""

    audio: Block
    """float32 [samples] at 16 kHz."""
    after_quiet_s: float | None = 0.6
    """Said after this much quiet: no speech, no answer, no playback. None: at once."""
    name: str = ""


class Script:
    """Plays utterances into the microphone, each when its time has come, silence in between."""

    def __init__(self, utterances: Sequence[Line], *, end_quiet_s: float = 1.0) -> None:
        self._waiting = list(utterances)
        self._end_quiet_s = end_quiet_s
        self._rest = empty()
        self.said: list[tuple[int, Line]] = []
        """Start sample in the session, and utterance, of all that was said."""

    @property
    def speaking(self) -> bool:
        """An utterance has not been said to its end."""
        return bool(len(self._rest))

    def next_window(self, start_sample: int, quiet_s: float) -> Block | None:
        """The next 512 samples, or None at the end."""
        window = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
        if not len(self._rest) and not self._begin(start_sample, quiet_s):
            return None
        taken = min(len(self._rest), BLOCK_SAMPLES)
        window[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return window

    def _begin(self, start_sample: int, quiet_s: float) -> bool:
        """Begin the next utterance if its time has come; False when all is said and answered."""
        if not self._waiting:
            return quiet_s < self._end_quiet_s
        after_s = self._waiting[0].after_quiet_s
        if after_s is None or quiet_s >= after_s:
            utterance = self._waiting.pop(0)
            self.said.append((start_sample, utterance))
            self._rest = utterance.audio
        return True


class WavTransport:
    """A scripted person in front of a recorder."""

    def __init__(self, script: Script, playback: Playback, clock: Clock) -> None:
        self._script = script
        self._playback = playback
        self._clock = clock
        self._stopped = False
        self._person: list[Block] = []
        self._assistant: list[Block] = []

    @property
    def playback(self) -> Playback:
        return self._playback

    @property
    def script(self) -> Script:
        """What the person says, and when."""
        return self._script

    @property
    def half_duplex(self) -> bool:
        return False

    @property
    def can_take_back(self) -> bool:
        return True

    def own_voice_heard(self) -> None:
        """A recording has no echo."""

    def stop(self) -> None:
        self._stopped = True

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        start_s = self._clock.now()
        sample = 0
        quiet_since = 0
        while not self._stopped:
            quiet_s = (sample - quiet_since) / PIPELINE_HZ
            window = self._script.next_window(sample, quiet_s)
            if window is None:
                return
            self._person.append(window)
            self._play_until(sample, sample + BLOCK_SAMPLES, start_s)
            quiet = tick()
            sample += BLOCK_SAMPLES
            self._clock.wait_until(start_s + sample / PIPELINE_HZ)
            heard(self._hear(window, sample, start_s + sample / PIPELINE_HZ))
            if not quiet or self._script.speaking:
                quiet_since = sample

    def stereo(self) -> Block:
        """The conversation, float32 [samples, 2]; left the person, right the assistant."""
        rate_hz = self._playback.rate_hz
        person = resample(_joined(self._person), PIPELINE_HZ, rate_hz)
        assistant = self.assistant()
        both = np.zeros((max(len(person), len(assistant)), 2), dtype=np.float32)
        both[: len(person), 0] = person
        both[: len(assistant), 1] = assistant
        return both

    def assistant(self) -> Block:
        """What was played, silences included: float32 [samples] at the output rate."""
        return _joined(self._assistant)

    def person(self) -> Block:
        """What was said, silences included: float32 [samples] at 16 kHz."""
        return _joined(self._person)

    def save(self, path: str | Path, *, stereo: bool = True) -> None:
        """Write the conversation as a WAV file.

        Raises:
            AudioError: the file cannot be written.
        """
        write_wav(path, self.stereo() if stereo else self.assistant(), self._playback.rate_hz)

    def _hear(self, window: Block, end_sample: int, at_s: float) -> AudioIn:
        """What the microphone makes of float32 [512], which the person says up to then."""
        return AudioIn(window, end_sample, at_s)

    def _play_until(self, sample: int, end: int, start_s: float) -> None:
        """Play tick by tick; while there is nothing to play, sleep instead of ticking."""
        while sample < end:
            if not self._playback.wait_for_sound(start_s + end / PIPELINE_HZ):
                self._play(sample, end)
                return
            passed = int((self._clock.now() - start_s) * PIPELINE_HZ)
            now = min(end, max(sample, -(-passed // TICK_SAMPLES) * TICK_SAMPLES))
            if now > sample:
                self._assistant.append(np.zeros(self._samples(sample, now), dtype=np.float32))
                sample = now
            if sample < end:
                self._clock.wait_until(start_s + sample / PIPELINE_HZ)
                self._play(sample, sample + TICK_SAMPLES)
                sample += TICK_SAMPLES

    def _samples(self, start: int, end: int) -> int:
        """Output samples between two positions at 16 kHz."""
        rate_hz = self._playback.rate_hz
        return end * rate_hz // PIPELINE_HZ - start * rate_hz // PIPELINE_HZ

    def _play(self, start: int, end: int) -> None:
        """Pull what a loudspeaker plays from `start` to `end`, samples at 16 kHz."""
        out = np.empty(self._samples(start, end), dtype=np.float32)
        self._playback.pull(out)
        self._assistant.append(out)


def _joined(blocks: list[Block]) -> Block:
    return np.concatenate(blocks) if blocks else empty()
