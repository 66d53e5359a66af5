"""Graphs of fixed shapes as a backend: where each part is placed, and what is said of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from s2s.tts.qwen3 import DevicePlacements, Request, open_model
from s2s.tts.qwen3.backend import Quants
from s2s.tts.qwen3.backends import available, codec_placement, device_placement
from s2s.tts.qwen3.errors import BackendError, ProviderError
from s2s.tts.qwen3.fixed import providers
from s2s.tts.qwen3.fixed.admission import Measure, PartAdmission
from s2s.tts.qwen3.fixed.backend import FixedBackend
from s2s.tts.qwen3.fixed.providers import RuntimeProvider
from s2s.tts.qwen3.fixed.weights import FIXED_A16W8, FIXED_F32


@dataclass(frozen=True)
class Half:
    """A provider that takes graphs of these names and no others."""

    takes: tuple[str, ...]
    name: str = "half"

    def missing(self) -> str | None:
        return None

    def open(self, graph: Path, threads: int) -> onnxruntime.InferenceSession:
        if not graph.stem.startswith(self.takes):
            raise ProviderError(f"half has no TopK ({graph.name})")
        return RuntimeProvider("cpu").open(graph, threads)

    def admit(self, part: str, folder: Path, measure: Measure) -> PartAdmission:
        return PartAdmission()


@pytest.fixture
def half(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(options: Mapping[str, str]) -> Half:
        return Half(("talker", "codec"))

    monkeypatch.setitem(providers.PROVIDERS, "half", made)


@pytest.mark.parametrize(
    ("wished", "computed"),
    [
        (Quants(FIXED_F32), Quants(FIXED_F32)),
        (Quants(FIXED_A16W8), Quants(FIXED_A16W8)),
        (Quants("q4_k_m"), Quants(FIXED_F32, None)),
        (Quants("f32", "q8_0"), Quants(FIXED_F32, FIXED_F32)),
    ],
)
def test_all_of_gguf_is_computed_in_more_bits(wished: Quants, computed: Quants) -> None:
    assert FixedBackend().quant(wished) == computed


def test_it_is_taken_where_it_is_named_and_nowhere_else() -> None:
    assert "fixed" not in [backend.name for backend in available(Quants("q4_k_m"))]
    with pytest.raises(BackendError, match="nothing like int4; it has fixed-f32, fixed-a16w8"):
        FixedBackend().quant(Quants("int4"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fixed", "fixed"),
        ("Fixed@CPU", "fixed"),
        ("fixed@tensorrt", "fixed@tensorrt"),
        ("fixed@CoreML:MLComputeUnits=ALL", "fixed@coreml:MLComputeUnits=ALL"),
    ],
)
def test_a_part_is_placed_on_a_provider(text: str, name: str) -> None:
    assert str(device_placement(text)) == name
    assert device_placement(text) == device_placement(name)
    assert codec_placement(text).codec is FixedBackend().codec


def test_a_provider_that_there_is_not_is_an_error_that_names_the_known() -> None:
    with pytest.raises(BackendError, match="'gpu' is no provider; known: cpu, cuda, tensorrt"):
        device_placement("fixed@gpu")


def test_what_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    assert FixedBackend().missing() is None
    assert "no cuda here, only cpu (pip install" in str(FixedBackend("cuda").missing())
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert "pip install 's2s[qwen3]'" in str(FixedBackend("cuda").missing())


def test_each_part_speaks_from_its_own_place_and_what_moved_is_said(
    half: None, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    """Talker on onnx, predictor and codec on an accelerator that cannot take the predictor."""
    source = tiny_qwen3("0.6b-customvoice")
    placed = DevicePlacements("fixed@half", "fixed@half", "fixed@half")
    model = open_model(source, tmp_path, quant=FIXED_F32, placement=placed)
    assert model.remarks == ("code predictor on the processor: half has no TopK (frame.onnx)",)
    assert model.placement == "fixed@half"
    request = Request("Hello.", speaker=model.voices[0])
    sound = [chunk.pcm for chunk in model.speak(request, seed=3).chunks]
    model.move(talker="fixed", predictor="fixed", codec="fixed")
    assert model.placement == "fixed"
    assert model.remarks == ()
    same = [chunk.pcm for chunk in model.speak(request, seed=3).chunks]
    np.testing.assert_array_equal(np.concatenate(sound), np.concatenate(same))
    model.close()
