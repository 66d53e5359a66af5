"""The reference backend against the official package at full size: TESTS_FULL_QWEN3=1.

Writes a random 0.6b-customvoice checkpoint of 2.5 GB and needs 4 GB of memory and minutes.
Golden values: tests/support/make_golden_qwen3.py --full.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameReport, SamplingRun, frames, prefill
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.interfaces import never
from s2s.tts.qwen3.reference import ReferenceEmbeddings, ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "qwen3"
WANTED = os.environ.get("TESTS_FULL_QWEN3", "")


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not WANTED, reason="set TESTS_FULL_QWEN3=1 (or to a checkpoint's folder)")
def test_first_logits_and_eight_greedy_frames(tmp_path: Path) -> None:
    folder = Path(WANTED)
    if not folder.is_dir():
        folder = tmp_path
        script = [sys.executable, "-m", "s2s.testing.random_checkpoint", str(folder)]
        subprocess.run([*script, "--kind", "0.6b-customvoice"], check=True, cwd=ROOT)
    expected = np.load(DATA / "full.npz")
    case = json.loads((DATA / "cases.json").read_text())["cases"]["0.6b-customvoice"][0]
    spec = read_spec(folder)
    weights = open_checkpoint(folder, spec)
    embeddings = ReferenceEmbeddings(spec, weights)
    talker, predictor = ReferenceTalker(spec, weights), ReferencePredictor(spec, weights)
    request = Request(case["text"], language=case["language"], speaker=case["speaker"])
    prompt = PromptBuilder(spec, Tokenizer.load(folder), embeddings).build(request)
    greedy = Sampling(greedy=True)
    generation = replace(spec.generation, talker=greedy, predictor=greedy, min_new_tokens=9)
    states, report = (talker.new_state(256), predictor.new_state()), FrameReport()
    out = prefill(talker, states[0], prompt, 0, never, report).out
    assert out is not None
    np.testing.assert_allclose(out.logits, expected["first_logits"], atol=1e-3, rtol=0)
    model = LanguageModel(spec, embeddings, talker, predictor)
    made = frames(model, states, out, prompt, SamplingRun.seeded(generation, 0), never, report)
    codes = [item.codes for item in islice(made, 8) if isinstance(item, Frame)]
    assert np.stack(codes).tolist() == expected["codes"].tolist()
