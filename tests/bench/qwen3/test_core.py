"""The benchmark of the Qwen3-TTS core: its sums, and a dry run on tiny weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from s2s.bench.qwen3.settings import schedule_name
from s2s.bench.qwen3.utterances import Summary, TimedUtterance, Times, acceptance_rate
from s2s.bench.synthesis import Arrivals
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3 import Report, ScheduleConfig

SCRIPTS = Path(__file__).parents[3] / "scripts"
SOAK_MINUTES = os.environ.get("TESTS_SOAK_MINUTES", "")
CHECKPOINT = os.environ.get("TESTS_SOAK_CHECKPOINT", "")
GROWTH_MB = 20


@pytest.mark.parametrize(("codes", "draft_tokens"), [(2.47, 2), (2.47, 3), (1.0, 3), (4.0, 3)])
def test_the_rate_gives_the_wanted_number_of_codes(codes: float, draft_tokens: int) -> None:
    rate = acceptance_rate(codes, draft_tokens)
    assert sum(rate**power for power in range(draft_tokens + 1)) == pytest.approx(codes)


@pytest.mark.parametrize(("codes", "draft_tokens"), [(2.47, 1), (0.5, 3), (1.5, 0)])
def test_what_no_rate_gives_is_refused(codes: float, draft_tokens: int) -> None:
    with pytest.raises(ValueError, match="draft tokens give"):
        acceptance_rate(codes, draft_tokens)


@pytest.mark.parametrize(
    ("schedule", "name"),
    [
        (ScheduleConfig(initial_codec_chunk_frames=2, codec_chunk_frames=8), "2, then 8"),
        (ScheduleConfig(codec_chunk_ramp=(2, 2, 3), codec_chunk_frames=4), "2 x 2, 3, then 4"),
    ],
)
def test_a_schedule_in_words(schedule: ScheduleConfig, name: str) -> None:
    assert schedule_name(schedule) == name


def example() -> TimedUtterance:
    report = Report(
        talker_s=[0.02, 0.03],
        predictor_s=[0.04, 0.06],
        codec_s=[0.05, 0.08],
        decoded_frames=[1, 2],
        chunk_frames=[1, 2],
        prefill_s=0.1,
        frames=3,
        forward_passes=39,
    )
    return TimedUtterance(report, Arrivals((0.2, 0.5), (0.08, 0.16)))


def test_a_summary_sums_up_all_utterances() -> None:
    summary = Summary.of([example(), example()])
    assert summary.rtf == pytest.approx(0.5 / 0.24, abs=1e-3)
    assert summary.rtf_after_prompt == pytest.approx(0.4 / 0.24, abs=1e-3)
    assert summary.talker_step == Times(25.0, 30.0)
    assert summary.codec_frame.p50_ms == 45.0
    assert summary.first_chunk.p50_ms == 200.0
    assert summary.uninterrupted_start.p50_ms == 420.0
    assert summary.gap.p95_ms == 300.0
    assert summary.frames_a_call == 1.5
    assert summary.forward_passes_a_frame == 13.0


def run(scratch: Path, *options: str) -> dict:
    """The JSON line of the benchmark of voices, asked for the core."""
    command = [sys.executable, str(SCRIPTS / "benchmark_tts.py"), "--backend", "qwen3"]
    command += ["--scratch", str(scratch), "--threads", "1", *options]
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_a_dry_run_measures_every_part_and_draws(tmp_path: Path) -> None:
    picture = tmp_path / "chunks.png"
    report = run(
        tmp_path,
        *("--tiny", "--frames", "12", "--runs", "1", "--aborts", "2"),
        *("--draft-tokens", "2", "--emulate-acceptance", "--picture", str(picture)),
    )
    plain, drafted, emulated = report["rows"]
    assert plain["summary"]["forward_passes_a_frame"] == 15
    assert (
        1
        < emulated["summary"]["forward_passes_a_frame"]
        < drafted["summary"]["forward_passes_a_frame"]
        <= 15
    )
    assert "emulated" in emulated["label"]
    assert emulated["emulated_codes_a_pass"] == 2.47
    for row in report["rows"]:
        found = row["summary"]
        for part in ("talker_step", "predictor_frame", "codec_frame", "prefill", "first_chunk"):
            assert 0 < found[part]["p50_ms"] <= found[part]["p95_ms"]
        assert found["first_chunk"]["p50_ms"] <= found["uninterrupted_start"]["p50_ms"]
        assert 10 < row["resident_loaded_mb"] <= row["peak_memory_mb"] + 1
    assert picture.stat().st_size > 1000
    assert len(list(tmp_path.glob("chunks*.png"))) == 3


def test_what_goes_wrong_in_the_other_process_is_told_here(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "benchmark_qwen3.py"), "--checkpoint", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert "config.json" in done.stderr.splitlines()[-1]


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.skipif(not SOAK_MINUTES, reason="set TESTS_SOAK_MINUTES=10")
def test_a_soak_does_not_grow(tmp_path: Path) -> None:
    """Full-size random weights, made here unless TESTS_SOAK_CHECKPOINT names a folder."""
    what = ["--checkpoint", CHECKPOINT] if CHECKPOINT else ["--random-weights"]
    picture = tmp_path / "soak.png"
    options = ["--soak", SOAK_MINUTES, "--frames", "250", "--picture", str(picture)]
    found = run(tmp_path, *what, *options)["soak"]
    assert found["minutes"][-1] >= float(SOAK_MINUTES)
    memory_mb = found["resident_mb"]
    assert max(memory_mb) - memory_mb[0] < GROWTH_MB
    assert picture.stat().st_size > 1000
