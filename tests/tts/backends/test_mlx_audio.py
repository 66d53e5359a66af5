"""mlx-audio where its package is missing; tests/voices speaks with the package itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.mlx_audio import MlxAudio, MlxAudioConfig
from s2s.tts.base import TtsError


def test_what_is_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlx_audio", None)
    with pytest.raises(TtsError, match=r"pip install 's2s\[mlx-audio\]'"):
        MlxAudio(MlxAudioConfig(), Resources(Store(tmp_path, manifest={})))
