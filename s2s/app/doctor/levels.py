"""What a microphone delivers: nothing, too little, too much, or speech as it should be. Pure, but
for `listen`, which records."""

from __future__ import annotations

import numpy as np

from s2s.app.doctor.report import Finding
from s2s.core.audio import PIPELINE_HZ, Block, rms_db
from s2s.core.audio.gain import QUIET_DB, speech_level_db
from s2s.core.clock import Clock, SystemClock
from s2s.transport.base import DeviceError
from s2s.transport.record import record

SECONDS = 2.0
FULL_SCALE = 0.99
CLIPPED = 1e-4
"""More samples than this share at full scale, or nearly, are a level that is too high."""
ROOM_DB = -55.0
"""A quiet room is below this; whoever speaks is well above it."""


def listen(wanted: str | None, name: str, clock: Clock | None = None) -> Finding:
    """What the microphone called `wanted` delivers in two seconds; `name`: what it is."""
    try:
        heard = record(wanted, SECONDS, PIPELINE_HZ, clock or SystemClock(), lambda _: None)
    except DeviceError as error:
        return Finding("warning", f"microphone: {error}", area="level")
    return level_finding(heard, name)


def level_finding(heard: Block, name: str) -> Finding:
    """What is to be said of float32 [samples at 16 kHz] that the microphone `name` delivered."""
    peak = float(np.abs(heard).max(initial=0.0))
    level_db = rms_db(heard)
    clipped = float(np.mean(np.abs(heard) >= FULL_SCALE)) if len(heard) else 0.0
    loud_db = speech_level_db(heard, PIPELINE_HZ) if peak > 0 else float("-inf")
    values: dict[str, str | float | bool | None] = {
        "device": name,
        "peak": round(peak, 5),
        "level_db": round(level_db, 1) if np.isfinite(level_db) else None,
        "loud_db": round(loud_db, 1) if np.isfinite(loud_db) else None,
        "clipped": round(clipped, 5),
    }
    if peak == 0.0:
        return Finding(
            "warning",
            f"microphone level: {name} delivers nothing but zeros: it is switched off",
            "switch it on (a key, its slider, the system's privacy settings), or choose another "
            "with --input-device",
            "level",
            values,
        )
    what = f"microphone level: {loud_db:.0f} dB at the loudest, {level_db:.0f} dB in all"
    if clipped > CLIPPED:
        return Finding(
            "warning",
            f"{what}: it clips ({100 * clipped:.1f} % of the samples at full scale)",
            "turn its level down in the system's sound settings",
            "level",
            values,
        )
    if loud_db < ROOM_DB:
        return Finding(
            "ok", f"{what}: a quiet room; speak while this runs to have your voice judged", "",
            "level", values,
        )  # fmt: skip
    if loud_db < QUIET_DB:
        return Finding(
            "warning",
            f"{what}: too quiet, if somebody spoke; it is made louder in conversations",
            "turn its level up in the system's sound settings, or come nearer",
            "level",
            values,
        )
    return Finding("ok", what, "", "level", values)
