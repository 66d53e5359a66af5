"""Whisper on MLX: trained weights through the library itself, which has wheels for Linux too."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.config import registry
from tests.support.other_voices import OtherVoice, check_voice

MLX = OtherVoice(
    "mlx-whisper",
    ["more-itertools", "numba", "scipy", "tiktoken"],
    does="hear",
    without=["mlx==0.32.4", "mlx-cpu==0.32.4", "mlx-whisper==0.4.3"],
)
"""mlx-whisper asks for torch, which it needs to convert checkpoints alone."""


@pytest.mark.voices
@pytest.mark.timeout(2400)
@pytest.mark.models("whisper-tiny.en")
def test_the_library_itself_hears(tmp_path: Path) -> None:
    assert check_voice(MLX, tmp_path) == {
        "words": "ok", "taught words": "ok", "silence": "ok", "stop": "ok", "no model": "ok",
        "threads that end": "ok", "closed": "ok",
    }  # fmt: skip


def test_where_it_is_not_installed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "missing", lambda _: ("mlx_whisper",))
    with pytest.raises(registry.RegistryError, match="s2s\\[mlx-whisper\\]"):
        registry.config_class(registry.find("stt", "mlx-whisper"))
