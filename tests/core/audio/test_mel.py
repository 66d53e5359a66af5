"""The mel filter bank against its definition, band by band."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.core.audio.mel import slaney_filters


@pytest.mark.parametrize(
    ("rate_hz", "fft_samples", "bands"), [(16_000, 400, 80), (24_000, 1024, 128)]
)
def test_bands_are_triangles_of_equal_area(rate_hz: int, fft_samples: int, bands: int) -> None:
    fine = 16 * fft_samples
    filters = slaney_filters(rate_hz, fine, bands)
    assert filters.shape == (bands, fine // 2 + 1)
    assert filters.min() == 0
    np.testing.assert_allclose(filters.sum(axis=1) * rate_hz / fine, 1.0, atol=2e-2)
    peaks = filters.argmax(axis=1)
    assert (np.diff(peaks) > 0).all()
    for row, peak in zip(filters, peaks, strict=True):
        assert (np.diff(row[: peak + 1]) >= 0).all()
        assert (np.diff(row[peak:]) <= 0).all()


def test_bands_are_even_up_to_1_khz_and_wider_by_a_constant_factor_above() -> None:
    filters = slaney_filters(16_000, 64_000, 80)
    centres_hz = filters.argmax(axis=1) * 16_000 / 64_000
    low, high = centres_hz[centres_hz < 900], centres_hz[centres_hz > 1100]
    np.testing.assert_allclose(np.diff(low), np.diff(low)[0], atol=0.5)
    ratios = high[1:] / high[:-1]
    np.testing.assert_allclose(ratios, ratios.mean(), rtol=1e-3)
    top_mel = 15 + 27 * np.log(8.0) / np.log(6.4)
    assert ratios.mean() == pytest.approx(6.4 ** (top_mel / 81 / 27), rel=1e-4)
