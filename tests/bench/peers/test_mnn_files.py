"""A checkpoint as plain graphs for another engine: they compute what ours compute."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.peers.mnn_files import GRAPHS, make
from s2s.system.onnx import onnx_session
from s2s.tts.qwen3 import open_decoder

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


def test_the_vocoder_sounds_as_the_decoder(made: tuple[Path, Path], tmp_path: Path) -> None:
    folder, out = made
    config = json.loads((folder / "speech_tokenizer" / "config.json").read_text())
    size = config["decoder_config"]["codebook_size"]
    codes = np.random.default_rng(0).integers(0, size, (6, 16))
    (wav,) = onnx_session(out / "vocoder.onnx").run(None, {"codes": codes[None].astype(np.int32)})
    decoder = open_decoder(folder / "speech_tokenizer", tmp_path)
    np.testing.assert_allclose(wav[0], decoder.decode(decoder.new_state(), codes), atol=1e-3)
