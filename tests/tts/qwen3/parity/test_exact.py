"""What every core is held against: greedy codes of the reference, which its own file gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import PromptError
from s2s.tts.qwen3.model import DevicePlacements, open_model
from s2s.tts.qwen3.parity.exact import exact_run
from s2s.tts.qwen3.parity.recorded import compare_recorded, read_recorded, write_recorded
from s2s.tts.qwen3.text.prompt import Reference, Request

FRAMES = 5


@pytest.mark.parametrize("kind", ["0.6b-customvoice", "0.6b-base", "1.7b-voicedesign"])
def test_a_core_in_float32_agrees_with_what_was_kept_of_it(
    kind: str, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tiny_qwen3(kind)
    request = {
        "0.6b-customvoice": Request("Hi.", language="english", speaker="ryan"),
        "0.6b-base": Request("Hi.", reference=voice(folder)),
        "1.7b-voicedesign": Request("Hi.", instruction="Calm."),
    }[kind]
    run = exact_run(folder, request, FRAMES)
    assert 0 < len(run.codes) <= FRAMES
    path = tmp_path / "exact.npz"
    write_recorded(path, run)
    place = DevicePlacements("onnx", "onnx", "onnx")
    model = open_model(folder, tmp_path, quant="onnx-f32", placement=place)
    kept = read_recorded(path, model.spec)
    assert kept.made_by == run.made_by
    assert kept.codes.tolist() == run.codes.tolist()
    assert written(kept.request) == written(run.request)
    found = compare_recorded(model, kept)
    model.close()
    assert (found.first, found.codes, found.same_frames) == (1.0, 1.0, len(run.codes))


def voice(folder: Path) -> Reference:
    """A voice of a vector as wide as the checkpoint has them, cloned in context."""
    spec = read_spec(folder)
    vector = np.linspace(-1, 1, spec.talker.hidden, dtype=np.float32)
    return Reference(vector, np.arange(3 * spec.groups).reshape(3, -1) % 7, "Ho.")


def written(request: Request) -> tuple[object, ...]:
    """A request in what can be compared."""
    reference = request.reference
    told = None
    if reference is not None:
        codes = None if reference.codes is None else reference.codes.tolist()
        told = reference.speaker.tolist(), codes, reference.text
    return replace(request, reference=None), told


def test_what_it_cannot_speak_is_said(tiny_qwen3: Callable[[str], Path]) -> None:
    with pytest.raises(PromptError, match="nobody"):
        exact_run(tiny_qwen3("0.6b-customvoice"), Request("Hi.", speaker="nobody"), FRAMES)
