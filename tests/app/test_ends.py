"""However the program ends - a stage that fails while others load, Ctrl-C, `kill` - it ends in
order: one line of error, the exit code, everything closed, and never a crash of native code."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.core.audio import read_wav
from tests.support import loaders
from tests.support.patience import PATIENCE_S, PROGRAM_S
from tests.support.recordings import DATA

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; from s2s.app.cli import entry; from tests.support.loaders import heed_signals;"
    "heed_signals(); sys.exit(entry())"
)
POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to send")


def start(hows: tuple[str, ...], *arguments: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.loaders", *hows, *arguments],
        cwd=ROOT,
        env=os.environ | {"S2S_HOME": str(home), "PYTHONFAULTHANDLER": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it wrote until it ended; it does not outlive the test."""
    try:
        return process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()


def talk(hows: tuple[str, ...], home: Path) -> subprocess.Popen[str]:
    return start(hows, "--input", str(DATA / "something.wav"), "--fast", home=home)


def with_failure(how: str, others: tuple[str, str]) -> list[tuple[str, ...]]:
    """`how` at each of the three stages, the others as given."""
    return [(*others[:place], how, *others[place:]) for place in range(3)]


FAILURES = [
    *with_failure("fails", ("slow", "ready")),
    *with_failure("fails", ("never", "slow")),
    *with_failure("fails after one", ("ready", "never")),
    *with_failure("fails after one", ("ready", "slow")),
    *with_failure("fails after the others", ("ready", "slow")),
    *with_failure("fails when warmed", ("ready", "slow")),
    ("fails", "fails", "fails"),
    ("fails", "fails", "slow"),
    ("never", "fails", "never"),
]


@pytest.mark.parametrize("hows", FAILURES, ids=" | ".join)
def test_a_stage_that_fails_while_others_load_is_one_line_and_exit_code_1(
    hows: tuple[str, ...], tmp_path: Path
):
    process = talk(hows, tmp_path)
    out, err = ended(process)
    failing = [
        f"s2s: {stage} cannot be used"
        for stage, how in zip(loaders.STAGES, hows, strict=True)
        if how.startswith("fails")
    ]
    assert process.returncode == 1, err
    assert err.strip() in failing
    there = [
        stage
        for stage, how in zip(loaders.STAGES, hows, strict=True)
        if how in ("ready", "fails when warmed")
    ]
    for stage in there:
        assert out.count(f"closed {stage}") == 1, out


def _waits(sent: str, hows: tuple[str, ...], until: str) -> tuple[object, ...]:
    return (sent, hows, until)


INTERRUPTED = [
    *(
        _waits(sent, hows, f"loading {stage}")
        for sent, (stage, hows) in itertools.product(
            ("SIGINT", "SIGTERM"),
            zip(loaders.STAGES, with_failure("never", ("ready", "slow")), strict=True),
        )
    ),
    *(_waits(sent, ("never",) * 3, "loading llm") for sent in ("SIGINT", "SIGTERM", "SIGHUP")),
    *(
        _waits(sent, hows, f"warming {stage}")
        for sent, (stage, hows) in itertools.product(
            ("SIGINT", "SIGTERM"),
            zip(loaders.STAGES, with_failure("hangs when warmed", ("ready", "ready")), strict=True),
        )
    ),
]


@POSIX
@pytest.mark.parametrize(("sent", "hows", "until"), INTERRUPTED)
def test_a_signal_while_loading_ends_it_in_order(
    sent: str, hows: tuple[str, ...], until: str, tmp_path: Path
):
    process = talk(hows, tmp_path)
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if line.strip() == until:
            break
    process.send_signal(signal.Signals[sent])
    out, err = ended(process)
    assert process.returncode == 128 + signal.Signals[sent], err
    assert err == ""
    if until.startswith("warming"):
        closed = [line for line in (seen + out).splitlines() if line.startswith("closed")]
        assert sorted(closed) == ["closed llm", "closed stt", "closed tts"]


@POSIX
@pytest.mark.models
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM"])
def test_a_signal_in_a_conversation_saves_what_was_recorded(sent: str, tmp_path: Path):
    output = tmp_path / "reply.wav"
    command = [sys.executable, "-c", PROGRAM, "--input", str(DATA / "librivox_0930.wav")]
    process = subprocess.Popen(
        [*command, "--output", str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("you  "):  # it has heard, and speaks
            break
    process.send_signal(signal.Signals[sent])
    out, err = ended(process)
    assert process.returncode == 0, err
    assert f"Wrote {output}" in out
    samples, rate_hz = read_wav(output)
    assert rate_hz == 24_000
    assert len(samples) > 3 * rate_hz


@pytest.mark.models
def test_a_voice_that_is_not_there_is_told_while_real_models_load(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
):
    """The case that was found: a Base model speaks with an enrolled voice only."""
    command = [sys.executable, "-m", "s2s", "--input", str(DATA / "something.wav"), "--fast"]
    flags = ["--tts", "qwen3", "--tts.model", str(tiny_qwen3("0.6b-base")), "--quant", "f32"]
    result = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=PROGRAM_S)
    assert result.returncode == 1, result.stderr
    told = [line for line in result.stderr.splitlines() if line.startswith("s2s: ")]
    assert len(told) == 1
    assert "voice" in told[0]
    assert "Traceback" not in result.stderr
