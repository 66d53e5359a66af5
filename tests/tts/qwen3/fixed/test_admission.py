"""What decides whether a part may be computed on a provider that rounds."""

from __future__ import annotations

import math

import pytest

from s2s.tts.qwen3.fixed.admission import Agreement, Fidelity, Measured, PartAdmission, decided


@pytest.mark.parametrize(
    ("measured", "share", "admission"),
    [
        (Fidelity(40.0), 1.0, PartAdmission(said="n: 40.0 dB")),
        (Fidelity(39.9), 1.0, PartAdmission(refused="n: 39.9 dB, 40 dB are wanted")),
        (Fidelity(-math.inf), 1.0, PartAdmission(refused="n: -inf dB, 40 dB are wanted")),
        (Fidelity(math.nan), 1.0, PartAdmission(refused="n: nan dB, 40 dB are wanted")),
        (Agreement(52, 52), 1.0, PartAdmission(said="n: 52 of 52 greedy codes agree")),
        (
            Agreement(9, 10),
            1.0,
            PartAdmission(refused="n: 9 of 10 greedy codes agree, 100% have to"),
        ),
        (Agreement(51, 52), 0.98, PartAdmission(said="n: 51 of 52 greedy codes agree")),
        (
            Agreement(0, 52),
            0.98,
            PartAdmission(refused="n: 0 of 52 greedy codes agree, 98% have to"),
        ),
    ],
)
def test_it_is_taken_or_refused_with_its_figures(
    measured: Measured, share: float, admission: PartAdmission
) -> None:
    assert decided(measured, share, "n") == admission
