"""A run of another program against this one: here the other is the numpy reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameReport, SamplingRun, frames, prefill
from s2s.tts.qwen3.errors import RecordingError
from s2s.tts.qwen3.interfaces import never
from s2s.tts.qwen3.model import DevicePlacements, Qwen3Model, open_model
from s2s.tts.qwen3.parity.compare import reference
from s2s.tts.qwen3.parity.recorded import compare_recorded, read_recorded
from s2s.tts.qwen3.reference import no_trace
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

KIND = "0.6b-customvoice"
TEXT = "Hello there."
GREEDY = Sampling(greedy=True)
FRAMES = 6


@pytest.fixture(scope="module")
def model(
    tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Qwen3Model:
    placement = DevicePlacements(talker="onnx", predictor="onnx", codec="onnx")
    home = tmp_path_factory.mktemp("home")
    return open_model(tiny_qwen3(KIND), home, quant="onnx-f32", placement=placement)


@pytest.fixture(scope="module")
def run(tiny_qwen3: Callable[[str], Path], model: Qwen3Model) -> dict[str, np.ndarray]:
    """A greedy run in numpy, and the sound of its codes."""
    folder = tiny_qwen3(KIND)
    spec = read_spec(folder)
    oracle = reference(folder, spec, no_trace)
    prompt = PromptBuilder(spec, Tokenizer.load(folder), oracle.embeddings).build(
        Request(TEXT, speaker="ryan")
    )
    states = oracle.talker.new_state(200), oracle.predictor.new_state()
    report = FrameReport()
    out = prefill(oracle.talker, states[0], prompt, 0, never, report).out
    assert out is not None
    greedy = replace(
        spec.generation, talker=GREEDY, predictor=GREEDY, min_new_tokens=FRAMES + 2,
        max_new_tokens=FRAMES + 1,
    )  # fmt: skip
    items = frames(oracle, states, out, prompt, SamplingRun.seeded(greedy, 0), never, report)
    codes = np.stack([item.codes for item in items if isinstance(item, Frame)])
    decoder = model.parts.decoder
    pcm = decoder.decode(decoder.new_state(), codes)
    return {
        "text": np.array(TEXT), "speaker": np.array("ryan"), "codes": codes, "pcm": pcm,
        "made_by": np.array("numpy"),
    }  # fmt: skip


def written(path: Path, run: dict[str, np.ndarray], **changed: object) -> Path:
    whole = {**run, **{name: np.asarray(value) for name, value in changed.items()}}
    np.savez(path, **whole)  # pyright: ignore[reportArgumentType]
    return path


def test_the_same_computation_agrees(
    model: Qwen3Model, run: dict[str, np.ndarray], tmp_path: Path
) -> None:
    recorded = read_recorded(written(tmp_path / "run.npz", run), model.spec)
    assert recorded.made_by == "numpy"
    found = compare_recorded(model, recorded)
    assert found.frames == len(run["codes"])
    assert (found.first, found.likely, found.codes) == (1.0, 1.0, 1.0)
    assert found.same_frames == found.frames
    assert not found.ends  # it was cut
    assert found.log_probability < 0
    assert found.snr_db is not None
    assert found.snr_db > 100


def test_another_computation_is_seen(
    model: Qwen3Model, run: dict[str, np.ndarray], tmp_path: Path
) -> None:
    codes = run["codes"].copy()
    codes[2, 0] = (codes[2, 0] + 1) % model.spec.codes
    codes[4, 5] = (codes[4, 5] + 1) % model.spec.codes
    path = written(tmp_path / "run.npz", run, codes=codes, pcm=-run["pcm"])
    found = compare_recorded(model, read_recorded(path, model.spec))
    assert found.first < 1
    assert found.codes < 1
    assert found.same_frames == 2
    assert found.snr_db is not None
    assert found.snr_db < 0


def test_codes_by_codebook_and_whole_samples_are_read_too(
    model: Qwen3Model, run: dict[str, np.ndarray], tmp_path: Path
) -> None:
    whole = np.round(run["pcm"] * 32767).astype(np.int16)
    path = written(tmp_path / "run.npz", run, codes=run["codes"].T.astype(np.int32), pcm=whole)
    recorded = read_recorded(path, model.spec)
    assert recorded.codes.tolist() == run["codes"].tolist()
    found = compare_recorded(model, recorded)
    assert found.snr_db is not None
    assert found.snr_db > 40


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"codes": np.zeros((3, 5), np.int64)}, r"codes is int64 \[3, 5\]"),
        ({"codes": np.zeros((3, 16))}, "wanted whole numbers"),
        ({"codes": np.full((3, 16), 5000)}, "holds 5000 to 5000"),
        ({"codes": np.zeros((0, 16), np.int64)}, r"\[0, 16\]"),
    ],
)
def test_a_run_that_cannot_be_used_says_why(
    changed: dict[str, object], message: str, model: Qwen3Model, run: dict[str, np.ndarray],
    tmp_path: Path,
) -> None:  # fmt: skip
    with pytest.raises(RecordingError, match=message):
        read_recorded(written(tmp_path / "run.npz", run, **changed), model.spec)


def test_a_file_that_is_none_says_why(model: Qwen3Model, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    with pytest.raises(RecordingError, match="no NumPy archive"):
        read_recorded(path, model.spec)
    path.write_bytes(b"PK no zip")
    with pytest.raises(RecordingError, match="no NumPy archive"):
        read_recorded(path, model.spec)
    np.savez(path, text=np.array("Hi."))
    with pytest.raises(RecordingError, match="lacks text or codes; it has text"):
        read_recorded(path, model.spec)
    np.savez(path, text=np.array([object()], dtype=object), codes=np.zeros((1, 16), np.int64))
    with pytest.raises(RecordingError, match="no NumPy archive"):
        read_recorded(path, model.spec)
