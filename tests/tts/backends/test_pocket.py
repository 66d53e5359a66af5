"""Pocket TTS where its package is missing; tests/voices speaks with the package itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.pocket import MODELS, VOICES, Pocket, PocketConfig
from s2s.tts.base import TtsError


def test_what_is_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pocket_tts", None)
    resources = Resources(Store(tmp_path, manifest={}))
    with pytest.raises(TtsError, match=r"pip install 's2s\[pocket\]'"):
        Pocket(PocketConfig(), resources)
    with pytest.raises(TtsError, match="speaks en, fr, de, pt, it, es, nl, not sv"):
        Pocket(PocketConfig(language="de", languages=("sv",)), resources)


def test_each_language_has_a_speaker() -> None:
    assert {speaker for _, speaker in MODELS.values()} <= set(VOICES)
    assert len(set(VOICES)) == len(VOICES)


def test_a_speed_that_cannot_be_is_refused() -> None:
    assert PocketConfig(speed=0.5).speed == 0.5
    with pytest.raises(ValueError, match=r"speed must be from 0\.5 to 2"):
        PocketConfig(speed=0.4)
