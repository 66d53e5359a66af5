"""Makes quiet recordings and microphones as loud as the models behind them expect.

Silero VAD loses speech whose peaks are below about -36 dB and the recognisers are not sure of it,
although nothing is missing in the samples (measured in docs/decisions/quiet-input.md). What is loud
enough passes to the bit. Pure; knows nothing about files, devices or models.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from s2s.core.audio.blocks import BLOCK_SAMPLES, PIPELINE_HZ, Block, rms_db

QUIET_DB = -40.0
"""Speech whose loud 30 ms are below this, in dB of full scale, is made louder."""
TARGET_DB = -26.0
"""To this level, that of read speech in the recordings of `tests/data` or a little below
(docs/decisions/quiet-input.md)."""
MAX_GAIN_DB = 40.0
"""More would make words of a sound card's own noise."""
SPEECH_OVER_NOISE_DB = 12.0
"""By how much a stream's loud moments must rise above its quiet ones to be taken for speech."""
FORGET_DB_PER_S = 0.05
"""A loud voice is remembered for minutes: a quiet one after it is another person's, or a television
in the next room."""
SILENT_S = 10.0
"""A microphone that gives nothing but zeros for this long from its start is switched off."""
SURE_S = 1.0
"""So much raised speech, and none that is loud, is a quiet microphone, and told."""

_FRAME_S = 0.03
_LOUD_S = 0.5
_LOUDEST_OF, _LOUD_BLOCKS = 16, 5
"""A stream is as loud as five of its last sixteen blocks (half a second): a click is no voice."""
_STEADY_OF, _STEADY_BLOCKS = 31, 16
"""It is raised when half of the last second is above its quiet moments: a breath, or the noise of a
microphone that has just been opened, is over by then and the first loud word has come."""
LOUDEST_DB = -20.0
"""No block is raised above this, so that who comes closer is not clipped."""
_REMEMBERED_BLOCKS = 10 * PIPELINE_HZ // BLOCK_SAMPLES
_FLOOR_DB = -100.0


@dataclass(frozen=True, slots=True)
class Raised:
    """A recording, and what was done to it."""

    samples: Block
    level_db: float
    """Of the loud frames before, dB of full scale; -inf for silence."""
    gain_db: float


def speech_level_db(samples: Block, rate_hz: int, loud_s: float = _LOUD_S) -> float:
    """The level in dB that the loudest 30 ms frames of float32 [samples] reach for half a second,
    or `loud_s`, in all; of a shorter recording, its least loud one. -inf for silence or no samples.
    """
    frame = max(1, int(_FRAME_S * rate_hz))
    count = len(samples) // frame
    if not count:
        return rms_db(samples)
    frames = samples[: count * frame].reshape(count, frame)
    power = np.square(frames, dtype=np.float64).mean(axis=1) - np.square(
        frames.mean(axis=1, dtype=np.float64)
    )
    index = max(0, count - int(loud_s / _FRAME_S))
    loud = float(np.partition(power, index)[index])
    return 10.0 * float(np.log10(loud)) if loud > 0.0 else float("-inf")


def gain_for(level_db: float) -> float:
    """By how many dB speech of this level is raised."""
    if level_db >= QUIET_DB or level_db == float("-inf"):
        return 0.0
    return min(MAX_GAIN_DB, TARGET_DB - level_db)


def raised(samples: Block, rate_hz: int) -> Raised:
    """A recording float32 [samples] made as loud as speech usually is; as it is if it is that."""
    level_db = speech_level_db(samples, rate_hz)
    gain_db = gain_for(level_db)
    if gain_db:
        samples = _amplified(samples, np.float32(10 ** (gain_db / 20)))
    return Raised(samples, level_db, gain_db)


class MicrophoneGain:
    """Raises a quiet stream while it runs. One stream; not thread-safe.

    The first moments of the first quiet words pass as they are: it must hear that they are quiet.
    """

    def __init__(self) -> None:
        self.level_db = _FLOOR_DB
        """The loudest that was heard for a sixth of a second, slowly forgotten."""
        self._levels: deque[float] = deque(maxlen=_REMEMBERED_BLOCKS)
        self._gain_db = 0.0
        self._factor = 1.0
        self._told = False
        self._only_zeros = True
        self._samples = 0
        self._raised_samples = 0
        """Of what was taken for speech and raised, since there was loud speech."""

    @property
    def gain_db(self) -> float:
        return self._gain_db

    def process(self, block: Block, *, echo: bool = False) -> Block:
        """`block` float32 [512 at 16 kHz] as it is to be heard. Nothing is learned of the person or
        the room from one with the assistant's own `echo` in it."""
        self._samples += len(block)
        self._only_zeros = self._only_zeros and not block.any()
        level_db = max(_FLOOR_DB, rms_db(block - block.mean()))
        if not echo:
            self._levels.append(level_db)
            self._listen()
        gain_db = min(self._gain_db, max(0.0, LOUDEST_DB - level_db))
        before, self._factor = self._factor, 10 ** (gain_db / 20)
        if before == self._factor == 1.0:
            return block
        before = min(before, self._factor)  # down at once, up by a ramp
        ramp = np.linspace(before, self._factor, len(block) + 1, dtype=np.float32)[1:]
        return _amplified(block, ramp)

    def hint(self, device: str) -> str | None:
        """What to tell the person about this microphone, once."""
        silent = self._only_zeros and self._samples >= SILENT_S * PIPELINE_HZ
        sure = self._raised_samples >= SURE_S * PIPELINE_HZ
        if self._told or not (silent or sure):
            return None
        self._told = True
        if silent:
            return (
                f"'{device}' gives nothing but silence: is it muted, or is this program not "
                "allowed to use it? Look at the system's sound settings."
            )
        return f"'{device}' is quiet: {level_hint(self.level_db, self._gain_db)}"

    def _listen(self) -> None:
        now_db = self._reached_db(_LOUDEST_OF, _LOUD_BLOCKS)
        forgotten = FORGET_DB_PER_S * BLOCK_SAMPLES / PIPELINE_HZ
        self.level_db = max(now_db, self.level_db - forgotten)
        if self.level_db >= QUIET_DB:
            self._gain_db = 0.0
            self._raised_samples = 0
            return
        floor_db = float(np.percentile(np.fromiter(self._levels, dtype=np.float64), 10))
        steady_db = self._reached_db(_STEADY_OF, _STEADY_BLOCKS)
        loud = self._reached_db(_LOUDEST_OF, 1) >= QUIET_DB  # it may be the first loud word
        if not loud and steady_db - floor_db >= SPEECH_OVER_NOISE_DB:
            self._gain_db = gain_for(self.level_db)
            self._raised_samples += BLOCK_SAMPLES

    def _reached_db(self, blocks: int, times: int) -> float:
        """The level that the last `blocks` reach `times` times."""
        recent = sorted(list(self._levels)[-blocks:])
        return recent[-times] if len(recent) >= times else _FLOOR_DB


def level_hint(level_db: float, gain_db: float) -> str:
    """How quiet something is, what was done, and what to do."""
    limit = ", the most there is," if gain_db >= MAX_GAIN_DB else ""
    return (
        f"speech comes at {level_db:.0f} dB of full scale, {TARGET_DB - level_db:.0f} dB below the "
        f"usual; it is made {gain_db:.0f} dB louder{limit} here. Turn the microphone up, or come "
        "closer to it."
    )


def _amplified(samples: Block, factor: np.float32 | Block) -> Block:
    return np.clip(samples * factor, -1.0, 1.0).astype(np.float32, copy=False)
