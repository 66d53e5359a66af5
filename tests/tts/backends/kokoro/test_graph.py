"""The network and its vocabulary, on a small one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.backends.kokoro.graph import KokoroGraph, read_vocabulary
from s2s.tts.base import TtsError
from tests.support.kokoro import STEP, Layout, kokoro_folder

STYLE = np.full((1, 256), 0.5, np.float32)


@pytest.mark.parametrize(
    ("layout", "files"),
    [
        ("thewh1teagle", ("kokoro.onnx", "vocab.json")),
        ("onnx-community", ("onnx/model_q8.onnx", "tokenizer.json")),
    ],
)
def test_both_exports_speak(tmp_path: Path, layout: Layout, files: tuple[str, str]) -> None:
    folder = kokoro_folder(tmp_path, layout)
    graph = KokoroGraph(folder / files[0], read_vocabulary(folder / files[1]), threads=1)
    numbers = graph.numbers("həlˈO 漢")
    assert len(numbers) == 6, "an unknown sign is left out"
    sound = graph.speak(numbers, STYLE, 1.0)
    assert sound.dtype == np.float32
    assert sound.shape == ((6 + 2) * STEP,), "a pad on both sides"
    assert float(np.abs(sound).max()) == pytest.approx(0.5, abs=1e-3)
    assert not sound[:STEP].any()
    assert np.array_equal(graph.speak(numbers, STYLE, 2.0), sound / 2)


def test_what_is_no_kokoro_is_named(tmp_path: Path) -> None:
    plain = Path(__file__).parents[3] / "data" / "vits" / "plain.onnx"
    with pytest.raises(TtsError, match=r"takes input, .* tokens \(or input_ids\)"):
        KokoroGraph(plain, {}, threads=1)
    (tmp_path / "bad.onnx").write_bytes(b"no graph")
    with pytest.raises(TtsError, match=r"bad\.onnx cannot be loaded"):
        KokoroGraph(tmp_path / "bad.onnx", {}, threads=1)


def test_what_the_network_refuses_is_an_error(tmp_path: Path) -> None:
    folder = kokoro_folder(tmp_path)
    graph = KokoroGraph(folder / "kokoro.onnx", {"a": 1}, threads=1)
    with pytest.raises(TtsError, match="could not speak 1 symbols"):
        graph.speak([1], np.ones((1, 3), np.float32), 1.0)


@pytest.mark.parametrize("told", ["[]", "{}", '{"vocab": {"a": "b"}}', "no JSON"])
def test_a_vocabulary_that_is_none(tmp_path: Path, told: str) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(told, encoding="utf-8")
    with pytest.raises(TtsError, match=r"vocab\.json"):
        read_vocabulary(path)


def test_a_vocabulary_in_a_config(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"n_token": 178, "vocab": {"a": 43}}), encoding="utf-8")
    assert read_vocabulary(path) == {"a": 43}
