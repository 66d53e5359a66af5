"""One set of names for the codec decoder's state, whatever computes it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.codec.tensors import STATE_PREFIX, state_shapes, transformer_state
from s2s.tts.qwen3.onnx.codec import OnnxCodecDecoder
from s2s.tts.qwen3.onnx.codec_graph import FRAMES_GRAPH, STEPS_GRAPH, WAVE_GRAPH

Tiny = Callable[[str], Path]


def test_the_graphs_take_the_state_that_every_decoder_keeps(
    tiny_qwen3: Tiny, tmp_path: Path
) -> None:
    from onnxruntime import InferenceSession

    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    spec = CodecSpec.from_config(read_json(folder / "config.json")).decoder
    OnnxCodecDecoder.open(spec, Checkpoint(folder), tmp_path, "tiny")
    shapes: dict[str, tuple[int, ...]] = {}
    for name in (FRAMES_GRAPH, STEPS_GRAPH, WAVE_GRAPH):
        (path,) = tmp_path.rglob(f"{name}.onnx")
        for item in InferenceSession(str(path)).get_inputs():
            if item.name.startswith(STATE_PREFIX):
                shapes[item.name] = tuple(s if isinstance(s, int) else 0 for s in item.shape)
    assert shapes == state_shapes(spec, 0)


def test_the_context_grows_as_far_as_the_attention_window(tiny_qwen3: Tiny) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    spec = CodecSpec.from_config(read_json(folder / "config.json")).decoder
    lengths = [transformer_state(spec, n)["state.key_0"][1] for n in (0, 5, 71, 72, 500)]
    assert lengths == [0, 5, 71, 71, 71]
    assert state_shapes(spec, 3).keys() == state_shapes(spec, 500).keys()


def test_a_state_on_the_kernel_needs_no_onnxruntime(tiny_qwen3: Tiny, kernel_cache: Path) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    code = (
        "import sys; from pathlib import Path; import numpy as np;"
        "from s2s.tts.qwen3.codec.open import open_decoder;"
        f"folder, cache = Path({str(folder)!r}), Path({str(kernel_cache)!r});"
        "decoder = open_decoder(folder, cache, placement='native', kernels=cache);"
        "state = decoder.new_state();"
        "decoder.decode(state, np.zeros((2, decoder.code_groups), np.int64));"
        "restored = decoder.restore(decoder.export(state), 2);"
        "decoder.decode(restored, np.zeros((1, decoder.code_groups), np.int64));"
        "print(restored.position, 'onnxruntime' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "False"]


def test_a_state_of_another_type_or_shape_is_refused_by_its_name(
    tiny_qwen3: Tiny, tmp_path: Path
) -> None:
    folder = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    spec = CodecSpec.from_config(read_json(folder / "config.json")).decoder
    decoder = OnnxCodecDecoder.open(spec, Checkpoint(folder), tmp_path, "tiny")
    arrays = {name: np.zeros(shape, np.float32) for name, shape in state_shapes(spec, 4).items()}
    assert decoder.restore(arrays, 4).position == 4
    wrong = arrays | {"state.last": arrays["state.last"].astype(np.float64)}
    with pytest.raises(ValueError, match=r"state\.last should be"):
        decoder.restore(wrong, 4)  # pyright: ignore[reportArgumentType]
