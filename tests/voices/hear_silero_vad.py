"""Silero VAD on torch against the ONNX file: the same network, window by window."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, Block, read_wav
from s2s.models.store import Store
from s2s.turns.base import Vad
from s2s.turns.torch_vad import TorchSileroVad
from s2s.turns.vad import SileroVad

DATA = Path(__file__).parents[1] / "data"
SAME = 0.02
"""Between probabilities of one network on two runtimes."""


def probabilities(vad: Vad, audio: Block) -> list[float]:
    blocks = [
        audio[start : start + BLOCK_SAMPLES]
        for start in range(0, len(audio) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
    ]
    return [vad.probability(block) for block in blocks]


def main() -> dict[str, str]:
    """Check -> "ok", or what came instead."""
    audio = read_wav(DATA / "librivox_0880.wav", 16_000)[0]
    package, file = TorchSileroVad(), SileroVad(Store().path("silero-vad"))
    stream = package.open()
    heard, expected = probabilities(stream, audio), probabilities(file.open(), audio)
    worst = float(np.abs(np.subtract(heard, expected)).max())
    told = {"probabilities": "ok" if worst < SAME and max(heard) > 0.9 else f"{worst}"}
    one, two = package.open(), package.open()
    both = [
        (one.probability(audio[at : at + BLOCK_SAMPLES]), two.probability(audio[-at - 512 :][:512]))
        for at in range(0, 20 * BLOCK_SAMPLES, BLOCK_SAMPLES)
    ]
    told["streams"] = "ok" if [mine for mine, _ in both] == heard[:20] else f"{both}"
    stream.reset()
    told["reset"] = "ok" if probabilities(stream, audio) == heard else "another result"
    try:
        stream.probability(audio[:100])
    except ValueError:
        told["length"] = "ok"
    return told


print(json.dumps(main()))
