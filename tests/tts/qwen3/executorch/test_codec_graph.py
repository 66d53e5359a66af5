"""What the codec's program carries along; what it computes: `test_codec.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.codec.tensors import state_shapes, transformer_state
from s2s.tts.qwen3.executorch.codec_graph import wave_state


def test_all_but_the_window_goes_through_the_second_method(
    tiny_qwen3: Callable[[str], Path],
) -> None:
    spec = read_codec_spec(tiny_qwen3("0.6b-base") / "speech_tokenizer").decoder
    first = {name for name in transformer_state(spec, 0) if "convnext" not in name}
    assert set(wave_state(spec)) == set(state_shapes(spec, 0)) - first
    assert next(iter(wave_state(spec))) == "state.convnext_0"
    assert list(wave_state(spec))[-1] == "state.last"
