"""The comparison with other engines: what is asked of whom, and files in another layout."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.bench.peers import compare, qwentts_files
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.checkpoint import GGUFFile

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "benchmark_qwen3_peers.py"
COMPLAINS = "import sys; print('of no use', file=sys.stderr); sys.exit(3)"
OFFICIAL = re.compile(r"self_attn|mlp|layernorm|block|embedding|linear")


def test_a_peer_is_a_name_a_variant_and_an_interpreter() -> None:
    found = compare.peer("vox:q8=venv/bin/python")
    assert (found.name, found.variant, found.python) == ("vox", "q8", "venv/bin/python")
    assert found.label == "vox:q8"
    assert compare.peer("s2s:q8_0+q8_0").python == sys.executable
    with pytest.raises(argparse.ArgumentTypeError, match="'nobody' is none of"):
        compare.peer("nobody")


def test_what_cannot_run_says_why(tmp_path: Path) -> None:
    with pytest.raises(compare.PeerError, match="No such file"):
        compare.called([str(tmp_path / "python")], 1)
    with pytest.raises(compare.PeerError, match="exit status 3: of no use"):
        compare.called([sys.executable, "-c", COMPLAINS], 1)


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_this_engine_runs_and_a_missing_one_is_listed(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    command = [sys.executable, str(SCRIPT), "--checkpoint", str(tiny_qwen3("0.6b-base"))]
    command += ["--scratch", str(tmp_path), "--threads", "1", "--frames", "6", "--runs", "1"]
    command += ["--peer", "s2s:q8_0+q8_0", "--peer", f"official:float32={tmp_path / 'python'}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    [row] = report["rows"]
    assert row["peer"] == "s2s:q8_0+q8_0"
    assert row["audio_s"] == pytest.approx(6 * 0.08)
    assert 0 < row["first_ms"] <= row["start_ms"]
    assert "No such file" in report["failed"]["official:float32"]
    assert "could not run" in done.stdout


@pytest.mark.parametrize("kind", ["0.6b-base", "1.7b-base"])
def test_files_for_qwentts_hold_every_tensor_by_its_name(
    kind: str, tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    talker, codec = qwentts_files.make(tiny_qwen3(kind), tmp_path, "q8_0")
    for path in (talker, codec):
        for name in GGUFFile(path).tensors:
            assert not OFFICIAL.search(name), name
    names = GGUFFile(talker).tensors
    for name in (
        "talker.blk.1.attn_q_norm.weight",
        "talker.blk.0.ffn_down.weight",
        "talker.text_proj.fc2.bias",
        "talker.text_embd.weight",
        "talker.codec_embd.weight",
        "talker.output_norm.weight",
        "code_pred.blk.1.attn_output.weight",
        "code_pred.codec_embd.14.weight",
        "code_pred.lm_head.0.weight",
        "spk_enc.blk.2.res2net.6.weight",
        "spk_enc.asp.tdnn.weight",
        "spk_enc.asp.conv.bias",
        "spk_enc.mfa.weight",
    ):
        assert name in names
    assert ("code_pred.mtp_proj.weight" in names) == kind.startswith("1.7b")
    names = GGUFFile(codec).tensors
    for name in (
        "tok_dec.pre_tfm.blk.0.attn_scale",
        "tok_dec.upsample.1.pwconv2.weight",
        "tok_dec.dec.0.conv.weight",
        "tok_dec.dec.3.snake.alpha",
        "tok_dec.dec.3.conv_t.bias",
        "tok_dec.dec.4.res.2.conv2.weight",
        "tok_dec.dec.4.res.0.act1.beta",
        "tok_dec.dec.5.snake.beta",
        "tok_dec.vq_first.0.codebook",
        "tok_dec.vq_rest.output_proj.weight",
        "tok_enc.res.1.blk.3.weight",
        "tok_enc.blk.0.attn_norm.bias",
        "tok_enc.downsample.weight",
        "tok_enc.vq_semantic.input_proj.weight",
        "tok_enc.vq_acoustic.0.codebook",
    ):
        assert name in names
