"""The assistant's own voice in the microphone: cancelled, measured, and if need be worked around.

The first and the last line of defence for open speakers: `EchoCanceller` takes the played sound out
of the microphone's; `DuplexGuard` measures how much is left and, where that is as loud as the
person, asks for half duplex (nothing is heard while the assistant speaks) and says so. Between them
are `expected_echo` and the words (`session/own_words`). Everything is at 16 kHz. Knows no device
and no clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, Framer, rms_db

# --- taking it out -------------------------------------------------------------------------------

_FRAME_SAMPLES = PIPELINE_HZ // 100


class EchoError(RuntimeError):
    """The canceller is not there. The message says what to install."""


class EchoCanceller:
    """WebRTC's echo canceller (AEC3) on blocks of any size. Not thread-safe.

    It works on frames of 10 ms; to give blocks of the size that came in, the output is
    `latency_samples` late.
    """

    latency_samples = _FRAME_SAMPLES
    """How much later a sample comes out because of the framing: 10 ms. AEC3 itself adds about as
    much, depending on the frequency."""

    def __init__(self, *, delay_ms: int = 0) -> None:
        """Start without knowledge of the room.

        Args:
            delay_ms: hint, from the moment a block is given to the speaker to its echo in the
                microphone; 0 lets the canceller find it.

        Raises:
            EchoError: pywebrtc-audio is not installed.
        """
        try:
            import pywebrtc_audio
        except ImportError as error:
            raise EchoError(
                "no echo canceller: install the extra with pip install 's2s[echo]', or use "
                "headphones"
            ) from error
        self._canceller = pywebrtc_audio.EchoCanceller(PIPELINE_HZ, 1, delay_ms)
        self.reset()

    def reset(self) -> None:
        """Forget the room and the stream."""
        self._canceller.reset()
        self._near = Framer(_FRAME_SAMPLES)
        self._far = Framer(_FRAME_SAMPLES)
        self._ready = np.zeros(self.latency_samples, dtype=np.float32)

    def process(self, near: Block, far: Block) -> Block:
        """Take the echo of `far` out of `near`.

        Args:
            near: what the microphone heard, float32 [samples] at 16 kHz.
            far: what was played meanwhile, float32 [samples]; zeros when nothing was.

        Returns:
            float32 [samples], `latency_samples` late.

        Raises:
            ValueError: the two have different lengths.
        """
        if near.shape != far.shape:
            raise ValueError(f"near and far differ in shape: {near.shape} and {far.shape}")
        frames = zip(self._near.push(near), self._far.push(far), strict=True)
        cleaned = [self._canceller.process(one.copy(), two.copy()) for one, two in frames]
        ready = np.concatenate([self._ready, *cleaned])
        self._ready = ready[len(near) :]
        return ready[: len(near)]


# --- measuring it --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DuplexConfig:
    """When both sides may speak at once."""

    warm_up_s: float = 3.0
    """Playback needed before the canceller is trusted: nothing interrupts until then."""
    min_erle_db: float = 10.0
    """Below this echo return loss, echo that is still audible means half duplex."""
    good_erle_db: float = 16.0
    """From this one on, full duplex comes back."""
    audible_db: float = 8.0
    """Echo counts from this much above the room's noise."""
    masking_db: float = 0.0
    """Rest of an echo that is louder than the person by more hides what they say. Below it, the
    second line tells them apart, however little the canceller does."""
    weak_db: float = 6.0
    """An echo that is so far below the person is not cancelled: the second line is enough."""
    self_heard: int = 2
    """So many transcripts of the assistant's own words within a minute mean half duplex."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.min_erle_db <= self.good_erle_db:
            raise ValueError(
                f"need 0 <= min_erle_db <= good_erle_db, got {self.min_erle_db} and "
                f"{self.good_erle_db}"
            )
        if self.warm_up_s < 0.0 or self.self_heard < 1:
            raise ValueError(
                f"need warm_up_s >= 0 and self_heard >= 1, got {self.warm_up_s} and "
                f"{self.self_heard}"
            )


_MEASURE_SAMPLES = PIPELINE_HZ // 10
_MEASURES = 50
_FEWEST = 10
_PLAYING_DB = -50.0
_QUIET_ROOM_DB = -65.0
_SILENT_ROOM_DB = -75.0
"""No room is quieter; what is played into a sound server is, and then pauses would be speech."""
_TAIL_MEASURES = 4
_INERTIA_DB = 2.0
_PERSON_DB = 15.0
"""What is this much above the room's noise while nothing plays is the person."""

HALF_DUPLEX = (
    "The microphone hears the speaker ({reason}): you cannot interrupt by voice now. "
    "Use headphones or turn the volume down."
)
FULL_DUPLEX = "Echo is cancelled by {erle:.0f} dB: you can interrupt by voice again."


class DuplexGuard:
    """Whether the person may interrupt by voice, from what is played, heard and left of it.

    Levels are taken over 100 ms while something is played; medians over the last 5 s of playback
    decide, so that the person speaking now and then does not count as echo.
    """

    def __init__(self, config: DuplexConfig | None = None) -> None:
        self.config = config or DuplexConfig()
        self._parts: list[tuple[Block, Block, Block]] = []
        self._collected = 0
        self._measures: deque[tuple[float, float]] = deque(maxlen=_MEASURES)
        """Level in the microphone and after the canceller while something plays, dB."""
        self._noise: deque[float] = deque(maxlen=_MEASURES)
        self._person: deque[float] = deque(maxlen=_MEASURES)
        self._known = self._with_person = False
        self._played_samples = 0
        self._since_played = _TAIL_MEASURES
        self._half = self._weak = False
        self._heard_samples = 0
        self._strikes: deque[int] = deque(maxlen=self.config.self_heard)
        """When the assistant heard itself, in samples heard; a minute back at most."""

    @property
    def warming_up(self) -> bool:
        """Too little was played to trust the canceller. Over early where there is no echo."""
        if self._known or (len(self._measures) >= _FEWEST and not self._echo_heard()):
            return False
        return self._played_samples < self.config.warm_up_s * PIPELINE_HZ

    @property
    def half_duplex(self) -> bool:
        """The person cannot interrupt by voice while the assistant speaks."""
        return self._half or self.warming_up

    @property
    def weak_echo(self) -> bool:
        """The person is so much louder than the echo in the microphone that they are heard better
        without the canceller, which takes down who speaks over an echo."""
        return self._weak

    @property
    def erle_db(self) -> float | None:
        """Echo return loss enhancement: how much the canceller takes out of the microphone's
        signal. None when no echo was heard yet."""
        if len(self._measures) < _FEWEST or not self._echo_heard():
            return None
        return float(np.median([heard - left for heard, left in self._measures]))

    def hear(
        self,
        near: Block,
        far: Block,
        cleaned: Block,
        *,
        known: bool = False,
        person: bool = False,
    ) -> str | None:
        """Measure one block.

        Args:
            near: what the microphone heard, float32 [samples] at 16 kHz.
            far: what was played meanwhile, float32 [samples].
            cleaned: what the canceller left of `near`; `near` itself where there is none.
            known: the second line knows what echo to expect, and needs no warm-up.
            person: no echo explains this block: it does not count.

        Returns:
            what to tell the person when the mode changes, else None.
        """
        self._known = known
        self._with_person = self._with_person or person
        self._parts.append((near, far, cleaned))
        self._collected += len(near)
        self._heard_samples += len(near)
        if self._collected < _MEASURE_SAMPLES:
            return None
        near, far, cleaned = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        with_person, self._with_person = self._with_person, False
        self._parts, self._collected = [], 0
        if rms_db(far) > _PLAYING_DB:
            self._played_samples += len(far)
            self._since_played = 0
            if with_person:
                return None
            self._measures.append((_bounded_db(near), _bounded_db(cleaned)))
            return self._judge()
        self._since_played += 1
        if self._since_played > _TAIL_MEASURES:
            level_db = _bounded_db(near)
            self._noise.append(level_db)
            if level_db > max(self._noise_db(), _SILENT_ROOM_DB) + _PERSON_DB:
                self._person.append(level_db)
        return None

    def self_heard(self) -> str | None:
        """A transcript was the assistant's own words; returns what to tell the person, if any."""
        self._forget_strikes()
        self._strikes.append(self._heard_samples)
        if self._half or len(self._strikes) < self.config.self_heard:
            return None
        self._half = True
        return HALF_DUPLEX.format(reason="it heard its own words")

    def _weigh(self) -> None:
        """Whether the echo is weak, with some inertia."""
        if min(len(self._measures), len(self._person)) < _FEWEST:
            return
        echo_db = float(np.median([heard for heard, _ in self._measures]))
        below_db = float(np.median(self._person)) - echo_db
        self._weak = below_db >= self.config.weak_db - (_INERTIA_DB if self._weak else 0.0)

    def _judge(self) -> str | None:
        self._weigh()
        erle_db = self.erle_db
        if erle_db is None or self.warming_up:
            return None
        self._forget_strikes()
        left_db = float(np.median([left for _, left in self._measures]))
        hidden = self._hides(left_db, erle_db)
        if not self._half and hidden:
            self._half = True
            return HALF_DUPLEX.format(reason=f"only {erle_db:.0f} dB of echo cancelled")
        spoken = len(self._person) >= _FEWEST
        clear = erle_db >= self.config.good_erle_db or (spoken and not hidden)
        if self._half and clear and not self._strikes:
            self._half = False
            return FULL_DUPLEX.format(erle=erle_db)
        return None

    def _hides(self, left_db: float, erle_db: float) -> bool:
        """Whether the rest of the echo hides the person; as loud as is usual until they spoke."""
        if erle_db >= self.config.min_erle_db:
            return False
        if len(self._person) < _FEWEST:
            return left_db - self._noise_db() > self.config.audible_db
        person_db = float(np.median(self._person))
        return left_db > person_db + self.config.masking_db

    def _forget_strikes(self) -> None:
        while self._strikes and self._heard_samples - self._strikes[0] > 60 * PIPELINE_HZ:
            self._strikes.popleft()

    def _echo_heard(self) -> bool:
        heard_db = float(np.median([heard for heard, _ in self._measures]))
        return heard_db - self._noise_db() > self.config.audible_db

    def _noise_db(self) -> float:
        """Level of the room while nothing is played: its quietest tenth, speech left out."""
        return float(np.quantile(self._noise, 0.1)) if self._noise else _QUIET_ROOM_DB


def _bounded_db(block: Block) -> float:
    return max(rms_db(block), -100.0)
