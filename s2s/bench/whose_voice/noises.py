"""Knocks, clicks, claps and coughs, synthesised: they are no speech, and must stop nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block

LEVEL = 0.5
PER_KIND = 25


def noises() -> Iterator[tuple[str, Block]]:
    """A hundred: name, and float32 [samples] at 16 kHz; the same ones every time."""
    for name, make in (("knock", _knock), ("click", _click), ("clap", _clap), ("cough", _cough)):
        for number in range(PER_KIND):
            random = np.random.default_rng([number, *name.encode()])
            hits = 1 + int(random.integers(3))
            parts: list[Block] = []
            for _ in range(hits):
                gap = np.zeros(int(random.uniform(0.12, 0.35) * PIPELINE_HZ), np.float32)
                parts += [make(random), gap]
            sound = np.concatenate(parts)
            peak = np.abs(sound).max()
            yield f"{name} {number}", (LEVEL * sound / peak).astype(np.float32)


def _time(seconds: float) -> Block:
    return (np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ).astype(np.float32)


def _knock(random: np.random.Generator) -> Block:
    """Wood: a few damped modes and the noise of the hit."""
    t = _time(0.15)
    modes = [
        random.uniform(0.3, 1.0)
        * np.exp(-t / random.uniform(0.008, 0.03))
        * np.sin(2 * np.pi * random.uniform(90, 900) * t)
        for _ in range(4)
    ]
    hit = 0.5 * random.standard_normal(len(t)) * np.exp(-t / 0.002)
    return np.asarray(sum(modes) + hit, dtype=np.float32)


def _click(random: np.random.Generator) -> Block:
    """A key or a switch: a millisecond of noise, and its echo."""
    t = _time(0.04)
    echo = np.roll(np.exp(-t / 0.001), int(random.uniform(0.008, 0.02) * PIPELINE_HZ))
    return np.asarray(
        random.standard_normal(len(t)) * (np.exp(-t / 0.0008) + 0.4 * echo), dtype=np.float32
    )


def _clap(random: np.random.Generator) -> Block:
    """Hands: a burst of noise around 1 kHz in a small room."""
    t = _time(0.25)
    noise = random.standard_normal(len(t))
    band = np.sin(2 * np.pi * random.uniform(700, 1600) * t) * noise
    return np.asarray(band * (np.exp(-t / 0.006) + 0.1 * np.exp(-t / 0.06)), dtype=np.float32)


def _cough(random: np.random.Generator) -> Block:
    """An explosion of air, noise through a throat, and sometimes a short voiced end."""
    t = _time(random.uniform(0.25, 0.4))
    noise = random.standard_normal(len(t))
    throat = np.zeros(len(t))
    for centre, width in ((500, 150), (1400, 250), (2600, 400)):
        pole = np.exp(-np.pi * width / PIPELINE_HZ)
        turn = 2 * pole * np.cos(2 * np.pi * centre * random.uniform(0.85, 1.15) / PIPELINE_HZ)
        filtered = np.zeros(len(t))
        for index in range(2, len(t)):
            filtered[index] = (
                noise[index] + turn * filtered[index - 1] - pole**2 * filtered[index - 2]
            )
        throat += filtered / np.abs(filtered).max()
    burst = np.exp(-t / 0.05) + 0.35 * np.exp(-((t - 0.15) ** 2) / 0.006)
    pitch = random.uniform(90, 180)
    voiced = np.sign(np.sin(2 * np.pi * pitch * t)) * np.exp(-((t - 0.25) ** 2) / 0.002)
    share = random.choice([0.0, 0.0, 0.3])
    return np.asarray(throat * burst + share * voiced, dtype=np.float32)
