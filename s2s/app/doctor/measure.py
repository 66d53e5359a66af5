"""The command `doctor --measure`: how fast Qwen3-TTS is on this machine, measured afresh."""

from __future__ import annotations

import contextlib

from s2s.app.terminal import print_table
from s2s.config.schema import Config
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.cpu import cores, cpu_name
from s2s.tts.qwen3 import FRAME_MS, Measurement
from s2s.tts.qwen3_adapter import Qwen3, Qwen3Config


def measure(config: Config, store: Store) -> int:
    """Load the configured Qwen3-TTS model alone, or the default one, measure it, and print every
    setting that was tried; 1 when something else computed meanwhile and nothing was kept."""
    options = config.tts.options
    if not isinstance(options, Qwen3Config):
        options = Qwen3Config()
    with contextlib.closing(Qwen3(options, Resources(store))) as voice:
        found = voice.measure()
        print(f"{voice.description} on {cpu_name()}, {cores()} cores")
    show(found)
    return 0 if found.kept else 1


def show(found: Measurement) -> None:
    """Print what was tried, what is used, and how it was measured."""
    rows = [
        (trial.what, f"{trial.best_ms:.1f}", "  ".join(f"{ms:.1f}" for ms in trial.frame_ms))
        for trial in found.trials
    ]
    if rows:
        print_table(("tried", "ms a frame", "each time"), rows)
    speed = found.speed
    decoder = f"{speed.call_ms:.1f} ms a call and {speed.decode_ms:.1f} ms a frame of the decoder"
    print(
        f"used: {speed.threads} threads, {speed.draft_tokens} draft tokens: "
        f"{speed.codes_ms:.1f} ms for the codes of a frame, {decoder}\n"
        f"real-time factor {speed.real_time:.2f} (a frame lasts {FRAME_MS:.0f} ms)\n"
        f"{speed.conditions}"
    )
    if not found.kept:
        print("not kept: end what else computes, and measure again")
