"""Whether a part may be computed on a provider that rounds: what was measured, and what decides.

A model that feeds on its own codes amplifies every error, and a provider that computes in half
precision was seen to give noise (seed 004, section 4). So such a part is first compared with the
processor, on the machine itself. Pure policy; `fixed.trial` measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

CODEC_SNR_DB = 40.0
"""The least ratio of a codec's samples to their error, for given codes: below it the error is
heard between words."""
TRIAL_FRAMES = 52
"""Frames whose greedy codes are compared, as in the exact cores' own gate:
docs/decisions/qwen3-qnn.md."""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """A codec's samples beside the processor's."""

    snr_db: float

    def __str__(self) -> str:
        return f"{self.snr_db:.1f} dB"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Greedy codes beside the processor's, each frame fed with the processor's codes."""

    same: int
    codes: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.same / self.codes

    def __str__(self) -> str:
        return f"{self.same} of {self.codes} greedy codes agree"


Measured = Fidelity | Agreement
Measure = Callable[[], Measured]
"""Compares an opened part with the processor. Raises ProviderError when it could not be opened
whole."""


@dataclass(frozen=True, slots=True)
class PartAdmission:
    """What is said of a part; ``refused`` is the reason why the processor computes it, or ""."""

    said: str = ""
    refused: str = ""


def decided(measured: Measured, least_share: float, how: str) -> PartAdmission:
    """least_share: of codes that have to agree, from 0 to 1. how: what computes, for messages."""
    match measured:
        case Fidelity(snr_db):
            passed, limit = snr_db >= CODEC_SNR_DB, f"{CODEC_SNR_DB:.0f} dB are wanted"
        case Agreement():
            passed, limit = measured.share >= least_share, f"{least_share:.0%} have to"
    if passed:
        return PartAdmission(said=f"{how}: {measured}")
    return PartAdmission(refused=f"{how}: {measured}, {limit}")
