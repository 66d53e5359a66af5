"""All parts of a tiny model in Qualcomm's compiler and simulator: `simulate_qwen3_qnn.py`, in an
environment of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.tts.qwen3.fixed.admission import CODEC_SNR_DB
from s2s.tts.qwen3.fixed.weights import FIXED_MIXES
from tests.support.other_voices import check_voice
from tests.tts.qwen3.fixed.qnn.in_qnn import in_qnn

HOW = "qnn (soc57-v75-f16, simulated)"


@pytest.mark.qnn
@pytest.mark.timeout(2400)
def test_all_parts_compile_and_compute_in_the_simulator(tmp_path: Path) -> None:
    told = dict(check_voice(in_qnn("simulate"), tmp_path))
    snr_db = told.pop("codec")
    assert isinstance(snr_db, float)
    assert snr_db >= CODEC_SNR_DB
    chip = told.pop("refused chip")
    assert isinstance(chip, str)
    assert chip.startswith("qnn cannot take refused.onnx") or "qnn has no" in chip
    operator = told.pop("refused operator")
    assert isinstance(operator, str)
    assert operator.startswith("qnn has no Det (")
    # Beside float32, on random weights, whose codes are nearly even: measured 1.0 and 0.73.
    for part, least in (("talker", 0.85), ("predictor", 0.6)):
        share = told.pop(f"fixed-a16w8 {part}, beside float32")
        assert isinstance(share, float)
        assert share >= least
    assert told == {
        "providers": True,
        "damaged, made again": True,
        "codec compiled": True,
        "codec kept": True,
        "codec on the processor": "",
        "slots": 17,
    } | {
        f"{quant} {what}": said
        for quant in FIXED_MIXES
        for what, said in {
            "language model compiled": True,
            "language model kept": True,
            "talker": f"talker on {HOW}: 8 of 8 greedy codes agree",
            "predictor": f"code predictor on {HOW}: 120 of 120 greedy codes agree",
            "predictor pass by pass": "15 of 15 greedy codes agree",
        }.items()
    }
