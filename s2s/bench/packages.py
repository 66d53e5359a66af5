"""Recordings out of Debian packages: how they are fetched, and how their files are read."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, read_wav, resample, to_mono

RAW = (".g722", ".gsm")
"""Endings of files without a header, as Asterisk's prompts come."""


def unpacked(packages: Sequence[str], folder: Path) -> Path:
    """Unpack `packages` into `folder`, with apt, unless that was done; returns `folder`."""
    if not any(folder.rglob("*.g722")):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["apt-get", "-q", "download", *packages], cwd=place, check=True)
            for package in sorted(Path(place).glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return folder


def read_sound(path: Path) -> Block:
    """Sound of a file, float32 [samples] at 16 kHz: WAV, FLAC, OGG, raw G.722 or GSM."""
    if path.suffix not in RAW:
        return read_wav(path, PIPELINE_HZ)[0]
    import av

    with av.open(str(path), format=path.suffix[1:]) as container:
        rate_hz = container.streams.audio[0].rate or PIPELINE_HZ
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
    samples = np.concatenate(frames, axis=1)[0].astype(np.float32) / 32768.0
    return resample(to_mono(samples), rate_hz, PIPELINE_HZ)
