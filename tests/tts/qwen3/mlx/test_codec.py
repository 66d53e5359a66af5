"""The codec decoder on MLX against the official package, and against itself under every split."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.other_voices import check_voice
from tests.tts.qwen3.mlx.in_mlx import in_mlx

CHECKS = {
    "it is MLX's", "official sound", "split 1", "split 73", "split 590", "split 25", "split 8",
    "any split 0", "any split 1", "any split 2", "a primed voice goes on", "a cold one does not",
    "streams at once", "another decoder's state", "stopped", "asked before every piece", "closed",
}  # fmt: skip


@pytest.mark.voices
@pytest.mark.timeout(2400)
def test_it_decodes_as_the_official_package_does(tmp_path: Path) -> None:
    assert check_voice(in_mlx("codec"), tmp_path) == dict.fromkeys(CHECKS, True)
