"""A whole Qwen3-TTS on MNN itself, as a setting names it: tests/tts/qwen3/mnn/test_backend.py."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3 import DevicePlacements, Qwen3Model, Request, open_model
from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import available, backend_named
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.parity.compare import open_parity

FOLDER = Path(sys.argv[1])
KIND = "0.6b-customvoice"
REQUEST = Request("Stop me at any moment, please.", language="English", speaker="ryan")
FRAMES = 6
STOPS = 10
TOLD: dict[str, object] = {}


def opened(core: str, codec: str, quant: str) -> Qwen3Model:
    """A whole model, placed as a setting names it."""
    source = write_checkpoint(FOLDER / "official", KIND)
    place = DevicePlacements(core, core, codec)
    return open_model(source, FOLDER / "home", quant=quant, placement=place)


def sound(model: Qwen3Model, stale: Callable[[], bool] = lambda: False) -> np.ndarray:
    """Always the same sentence, as far as it is not stopped."""
    short = replace(model.spec.generation, min_new_tokens=FRAMES, max_new_tokens=FRAMES)
    spoken = model.speak(REQUEST, stale=stale, seed=11, generation=short)
    return np.concatenate([np.zeros(0, np.float32), *(chunk.pcm for chunk in spoken.chunks)])


def whole() -> None:
    """It speaks, as any other core does from the same seed; it stops where it is told to."""
    other = opened("ggml", "onnx", "f32")
    expected = sound(other)
    other.close()
    model = opened("mnn", "mnn", "mnn-f32")
    made = sound(model)
    TOLD["sounds"] = len(made) > 0 and bool(np.isfinite(made).all())
    TOLD["as ggml's in f32"] = made.shape == expected.shape and bool(
        np.abs(made - expected).max() < 1e-3
    )
    asked: list[int] = []
    sound(model, lambda: bool(asked.append(1)))
    random, shorter, same = np.random.default_rng(3), 0, []
    for last in random.integers(0, len(asked), STOPS).tolist():
        asked.clear()
        heard = sound(model, lambda last=last: len(asked) >= last or bool(asked.append(1)))
        shorter += len(heard) < len(made)
        same.append(bool((heard == made[: len(heard)]).all()))
        same.append(bool((sound(model) == made).all()))
    TOLD["stopped"] = shorter == STOPS
    TOLD["nothing is left behind"] = len(same) == 2 * STOPS and all(same)
    model.close()


def listed() -> None:
    """It can be had where it is named, and has its rows of the parity table."""
    TOLD["not missing"] = backend_named("mnn").missing() is None
    TOLD["not by itself"] = "mnn" not in [backend.name for backend in available(Quants("q4_k_m"))]
    rows = open_parity(str(FOLDER / "official"), FOLDER, 1).quality(["mnn-f32", "mnn-8"], 6)
    TOLD["parity in f32"] = rows[0].kl < 1e-6
    TOLD["parity in eight bits"] = 0 < rows[1].kl < 0.01


def no_such_back_end() -> None:
    """This MNN has the processor alone: what it lacks is an error, never the processor unsaid."""
    for name in ("opencl", "metal", "coreml", "nnapi", "qnn"):
        try:
            opened(f"mnn@{name}", "mnn", "mnn-f32")
        except BackendError as error:
            TOLD[f"no {name}"] = f"this MNN has no {name}" in str(error)


no_such_back_end()
whole()
listed()
print(json.dumps(TOLD))
