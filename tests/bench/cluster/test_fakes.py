"""The slow voice says what the quick one does."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.app.cluster.plan import made_models
from s2s.bench.cluster import fakes
from s2s.bench.cluster.fakes import AT_ONCE, WITH_SLOW_VOICE, SlowVoice
from s2s.bench.load.served import CHUNK_S


def test_it_takes_as_long_as_its_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(fakes.time, "sleep", slept.append)
    quick, slow = made_models(AT_ONCE).synthesizer, made_models(WITH_SLOW_VOICE).synthesizer
    assert isinstance(slow, SlowVoice)
    said, slowly = list(quick.synthesize("Hello.")), list(slow.synthesize("Hello."))
    assert slept == [CHUNK_S] * len(said)
    for one, other in zip(said, slowly, strict=True):
        assert np.array_equal(one.samples, other.samples)
    assert slow.capabilities == quick.capabilities
    assert list(slow.synthesize("Hello.", stop=lambda: True)) == []
