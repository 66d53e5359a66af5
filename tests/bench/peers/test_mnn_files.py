"""A checkpoint as plain graphs for another engine: they compute what ours compute."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.peers.mnn_files import GRAPHS, make
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.parity.compare import reference
from s2s.tts.qwen3.reference import no_trace

Tiny = Callable[[str], Path]


@pytest.fixture(scope="module")
def made(tiny_qwen3: Tiny, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder, out = tiny_qwen3("0.6b-base"), tmp_path_factory.mktemp("mnn")
    make(folder, out)
    return folder, out


def test_everything_that_the_engine_reads_is_there(made: tuple[Path, Path]) -> None:
    folder, out = made
    assert all((out / f"{name}.onnx").is_file() for name in GRAPHS)
    shapes = json.loads((out / "weights" / "meta.json").read_text())
    for name, about in shapes.items():
        size = (out / "weights" / f"{name}.bin").stat().st_size
        assert size == 2 * int(np.prod(about["shape"])), name
    assert (out / "tokenizer" / "merges.txt").read_bytes() == (folder / "merges.txt").read_bytes()


def test_steps_of_the_talker_are_those_of_the_reference(made: tuple[Path, Path]) -> None:
    folder, out = made
    spec = read_spec(folder)
    shape = spec.talker
    session = onnx_session(out / f"{GRAPHS[0]}.onnx")
    vectors = np.random.default_rng(0).standard_normal((3, shape.hidden), np.float32)
    past = np.zeros((2 * shape.layers, 1, shape.kv_heads, 0, shape.head_dim), np.float32)
    talker = reference(folder, spec, no_trace).talker
    state = talker.new_state(3)
    for at, vector in enumerate(vectors):
        feed = {
            "inputs_embeds": vector[None, None],
            "position_ids": np.array([[at]], np.int32),
            "past_kv": past,
        }
        hidden, past = session.run(["last_hidden", "new_kv"], feed)
        expected = talker.prefill(state, vector[None]).hidden
        np.testing.assert_allclose(hidden[0, -1], expected, atol=1e-3)
    assert past.shape[3] == 3


def test_the_vocoder_sounds_as_the_decoder(made: tuple[Path, Path], tmp_path: Path) -> None:
    folder, out = made
    spec = read_codec_spec(folder / "speech_tokenizer").decoder
    codes = np.random.default_rng(0).integers(0, spec.codebook_size, (6, spec.code_groups))
    (wav,) = onnx_session(out / "vocoder.onnx").run(None, {"codes": codes[None].astype(np.int32)})
    decoder = open_decoder(folder / "speech_tokenizer", tmp_path)
    np.testing.assert_allclose(wav[0], decoder.decode(decoder.new_state(), codes), atol=1e-3)
