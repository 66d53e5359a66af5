"""The codec decoder on MNN against the official package, and against itself under every split:
`codec_qwen3_mnn.py`, in MNN itself. What needs no MNN is held here on one that stands in for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.interfaces import Stopped
from s2s.tts.qwen3.mnn.codec import FRAMES
from tests.support.other_voices import check_voice
from tests.tts.qwen3.mnn.fake_mnn import Interpreter
from tests.tts.qwen3.mnn.in_mnn import in_mnn
from tests.tts.qwen3.tiny_codec import golden_codes

CHECKS = {
    "it is MNN's", "official sound", "split 1", "split 73", "split 590", "split 25", "split 8",
    "any split 0", "any split 1", "any split 2", "a primed voice goes on", "a cold one does not",
    "streams at once", "another decoder's state", "stopped", "asked before every run", "closed",
}  # fmt: skip
"""Of sounds, sample for sample: 1e-4 apart at most."""


@pytest.mark.mnn
@pytest.mark.timeout(2400)
def test_it_decodes_as_the_official_package_does(tmp_path: Path) -> None:
    assert check_voice(in_mnn("codec"), tmp_path) == dict.fromkeys(CHECKS, True)


def test_any_split_gives_one_calls_sound(
    fake_mnn: type[Interpreter], tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    """The ONNX core's, past the attention window; the graph is converted once and kept."""
    folder, codes = tiny_qwen3("0.6b-base") / "speech_tokenizer", golden_codes()[:90]

    def opened(placement: str) -> CheckpointDecoder:
        return open_decoder(folder, tmp_path, placement=placement)

    onnx = opened("onnx")
    expected = onnx.decode(onnx.new_state(), codes)
    decoder = opened("mnn")
    for sizes in ([90], [1, 7, 82], [3] * 30):
        state, parts, start = decoder.new_state(), [], 0
        for size in sizes:
            parts.append(decoder.decode(state, codes[start : start + size]))
            start += size
        np.testing.assert_allclose(np.concatenate(parts), expected, atol=1e-4)
    (made,) = fake_mnn.made
    assert {plan["codes"][0] for plan in made.plans} == set(FRAMES)
    opened("mnn")
    kept = [path.name for path in tmp_path.glob("codec_mnn-*")]
    assert len(kept) == 1
    assert kept[0].endswith("-v1-3.6.1")


def test_it_stops_between_two_runs(
    fake_mnn: object, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, codes = tiny_qwen3("0.6b-base") / "speech_tokenizer", golden_codes()[:12]
    decoder, asked = open_decoder(folder, tmp_path, placement="mnn"), list[int]()

    def stale() -> bool:
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(Stopped):
        decoder.decode(decoder.new_state(), codes, stale)
    assert len(asked) == 3
