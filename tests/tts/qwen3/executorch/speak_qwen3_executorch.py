"""A whole Qwen3-TTS on ExecuTorch itself, as a setting names it:
tests/tts/qwen3/executorch/test_backend.py."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3 import DevicePlacements, Request, open_model
from s2s.tts.qwen3.backends import backend_named
from s2s.tts.qwen3.parity.compare import open_parity

FOLDER = Path(sys.argv[1])
KIND = "0.6b-customvoice"
REQUEST = Request("Stop me at any moment, please.", language="English", speaker="ryan")
FRAMES = 6
TOLD: dict[str, object] = {}


def whole() -> None:
    """It speaks, as any other core does from the same seed; it stops where it is told to."""
    source = write_checkpoint(FOLDER / "official", KIND)
    sounds = []
    for core, quant in (("executorch", "et-f32"), ("ggml", "f32")):
        place = DevicePlacements(core, core, core if core == "executorch" else "onnx")
        model = open_model(source, FOLDER / "home", quant=quant, placement=place)
        short = replace(model.spec.generation, min_new_tokens=FRAMES, max_new_tokens=FRAMES)
        sounds.append(
            np.concatenate([c.pcm for c in model.speak(REQUEST, seed=11, generation=short).chunks])
        )
        if core == "executorch":
            asked: list[int] = []

            def stale(asked: list[int] = asked) -> bool:
                asked.append(1)
                return len(asked) > 3

            stopped = model.speak(REQUEST, stale=stale, seed=11, generation=short)
            heard = sum(len(chunk.pcm) for chunk in stopped.chunks)
            TOLD["stopped"] = heard < len(sounds[0]) and stopped.report.frames < FRAMES
            again = np.concatenate(
                [c.pcm for c in model.speak(REQUEST, seed=11, generation=short).chunks]
            )
            TOLD["speaks after it was stopped"] = bool((again == sounds[0]).all())
        model.close()
    TOLD["sounds"] = len(sounds[0]) > 0 and bool(np.isfinite(sounds[0]).all())
    TOLD["as ggml's in f32"] = sounds[0].shape == sounds[1].shape and bool(
        np.abs(sounds[0] - sounds[1]).max() < 1e-3
    )


def listed() -> None:
    """It can be had, and has its rows of the parity table."""
    ours = [each.name for each in threading.enumerate() if each.name.startswith("s2s-")]
    TOLD["threads"] = ours == []
    TOLD["not missing"] = backend_named("executorch").missing() is None
    rows = open_parity(str(FOLDER / "official"), FOLDER, 1).quality(["et-f32", "et-8"], 6)
    TOLD["parity in f32"] = rows[0].kl < 1e-6
    TOLD["parity in eight bits"] = 0 < rows[1].kl < 0.01


whole()
listed()
print(json.dumps(TOLD))
