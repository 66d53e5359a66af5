"""Voices of other packages through their own libraries: `--require voices`.

Each program in this folder makes a small random model in the real layout, speaks with the backend,
and asks of it what tests/tts/test_capabilities.py asks of the others.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.config import registry
from tests.support.other_voices import OtherVoice, check_voice
from tests.tts.test_capabilities import OTHERS

VOICES = (
    OtherVoice("pocket", ["torch==2.13.0", "pocket-tts==4.0.1"]),
    OtherVoice(
        "chattts",
        [
            "torch==2.13.0",
            "transformers==4.57.3",
            "numba",
            "pybase16384",
            "loguru",
            "einops",
            "einx",
            "scipy",
            "tqdm",
            "pyyaml",
        ],
        without=[
            "chattts==0.2.5",
            "torchaudio==2.11.1",
            "vocos==0.1.0",
            "encodec==0.1.1",
            "vector-quantize-pytorch==1.32.0",
            "torch-einops-utils==0.2.0",
        ],
    ),
    OtherVoice("mlx-audio", ["mlx[cpu]==0.32.4", "mlx-audio==0.6.2", "requests==2.34.2"]),
)
"""torch 2.13.0 is built for processors alone in the package index: a fifth of the usual size. No
torchaudio is built for it, so ChatTTS' packages are installed without what they name."""


@pytest.mark.voices
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("voice", VOICES, ids=lambda voice: voice.name)
def test_the_library_itself_speaks(voice: OtherVoice, tmp_path: Path) -> None:
    results = check_voice(voice, tmp_path)
    assert len(results) >= 5
    assert {check: told for check, told in results.items() if told != "ok"} == {}


def test_each_is_a_backend_with_a_program() -> None:
    assert {voice.name for voice in VOICES} == OTHERS
    names = {backend.name for backend in registry.backends("tts")}
    for voice in VOICES:
        assert voice.name in names
        assert voice.program.is_file()
