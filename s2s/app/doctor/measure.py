"""The command `doctor --measure`: how fast each stage is on this machine; and Qwen3-TTS, whose
settings come from that, measured afresh.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from s2s.app import talking
from s2s.app.doctor.report import told
from s2s.app.doctor.speeds import StageSpeeds
from s2s.app.loading import close_models, load_models
from s2s.app.terminal import print_table
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, Block, read_wav
from s2s.core.clock import SystemClock
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.cpu import cores, cpu_name
from s2s.tts.qwen3 import FRAME_MS, Measurement
from s2s.tts.qwen3_adapter import Qwen3, Qwen3Config


def measure(config: Config, store: Store, *, as_json: bool = False) -> int:
    """Measure each stage of a conversation; where Qwen3-TTS is configured, that alone."""
    if isinstance(config.tts.options, Qwen3Config):
        return measure_qwen3(config.tts.options, store)
    models = load_models(config, store, lambda _: None)
    try:
        recording = demo_recording()
        return told(StageSpeeds(models, recording, SystemClock().now).findings(), as_json=as_json)
    finally:
        close_models(models)


def demo_recording() -> Block:
    """Speech that comes with the program: float32 [samples at 16 kHz]."""
    folder = Path(talking.__file__).parent / "demo"
    return read_wav(min(folder.glob("*.flac")), PIPELINE_HZ)[0]


def measure_qwen3(options: Qwen3Config, store: Store) -> int:
    """Load a Qwen3-TTS model alone, measure it, and print every setting that was tried; 1 when
    something else computed meanwhile and nothing was kept."""
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
