"""Recorded speech with its words, and sounds that hold none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block, read_wav

DATA = Path(__file__).parents[1] / "data"
WORDS_0880 = "he was not an ill disposed young man"
"""Said in librivox_0880.wav."""


@pytest.fixture(scope="session")
def librivox() -> dict[str, tuple[Block, str]]:
    """The transcribed recordings of tests/data: name -> (float32 [samples at 16 kHz], words)."""
    rows = (DATA / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in row.split("|")] for row in rows if "librivox_" in row]
    return {
        Path(file).stem: (read_wav(DATA / file, 16_000)[0], words)
        for _, file, _, words, *_ in cells
    }


@pytest.fixture(scope="session")
def wordless() -> dict[str, Block]:
    """Audio at 16 kHz that holds no words, by kind."""
    random = np.random.default_rng(1)

    def noise(level_db: float, seconds: float, *, pink: bool) -> Block:
        spectrum = np.fft.rfft(random.standard_normal(int(seconds * 16_000)))
        if pink:
            spectrum /= np.sqrt(np.arange(len(spectrum)) + 1.0)
        samples = np.fft.irfft(spectrum)
        return (samples / samples.std() * 10 ** (level_db / 20)).astype(np.float32)

    def tone(hertz: float) -> Block:
        return (0.2 * np.sin(2 * np.pi * hertz / 16_000 * np.arange(32_000))).astype(np.float32)

    return {
        "nothing": np.zeros(0, dtype=np.float32),
        "one sample": np.ones(1, dtype=np.float32),
        "50 ms": noise(-20, 0.05, pink=False),
        "silence": np.zeros(32_000, dtype=np.float32),
        "constant": np.full(32_000, 0.5, dtype=np.float32),
        "click": np.pad(np.ones(20, dtype=np.float32), 8_000),
        "hum": tone(50),
        "tone": tone(440),
        "not numbers": np.full(16_000, np.nan, dtype=np.float32),
    } | {
        f"{'pink' if pink else 'white'} noise, {level_db} dB, {seconds} s": noise(
            level_db, seconds, pink=pink
        )
        for level_db in (-50, -35, -20)
        for seconds in (1, 3)
        for pink in (False, True)
    }
