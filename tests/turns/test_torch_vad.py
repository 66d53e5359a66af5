"""Silero VAD by its own package on torch, beside the ONNX file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from s2s.app.voice_activity import open_vad
from s2s.models.store import Store
from s2s.turns.torch_vad import TorchSileroVad, TorchVadError
from tests.support.other_voices import OtherVoice, check_voice

SILERO = OtherVoice(
    "silero-vad", ["torch==2.13.0", "packaging"], does="hear", without=["silero-vad==6.2.3"]
)
"""The package also asks for torchaudio, to read files."""


@pytest.mark.voices
@pytest.mark.timeout(2400)
@pytest.mark.models
def test_it_hears_what_the_file_hears(tmp_path: Path) -> None:
    assert check_voice(SILERO, tmp_path) == {
        "probabilities": "ok", "streams": "ok", "reset": "ok", "length": "ok",
    }  # fmt: skip


def test_where_it_is_not_installed_that_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "silero_vad", None)
    with pytest.raises(TorchVadError, match="pip install silero-vad"):
        TorchSileroVad()
    with pytest.raises(TorchVadError):
        open_vad("torch", Store(tmp_path, manifest={}))
