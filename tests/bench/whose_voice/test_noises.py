"""A hundred noises that are no speech: the same ones every time, as loud as each other."""

from __future__ import annotations

from collections import Counter

import numpy as np

from s2s.bench.whose_voice.noises import LEVEL, PER_KIND, noises


def test_there_are_as_many_of_each_kind_and_they_do_not_change() -> None:
    one, other = list(noises()), list(noises())
    assert Counter(name.split()[0] for name, _ in one) == dict.fromkeys(
        ("knock", "click", "clap", "cough"), PER_KIND
    )
    for (name, a), (_, b) in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_each_is_finite_short_and_as_loud_as_the_others() -> None:
    for name, sound in noises():
        assert sound.dtype == np.float32, name
        assert np.isfinite(sound).all(), name
        assert abs(np.abs(sound).max() - LEVEL) < 1e-6, name
        assert 0.1 < len(sound) / 16_000 < 4.0, name
