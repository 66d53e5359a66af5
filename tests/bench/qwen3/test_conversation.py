"""The table of conversations: its rows, and what is good enough."""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from s2s.bench.qwen3 import conversation
from s2s.bench.qwen3.conversation import EMBEDDED, Row, main, parse, plan, voice_ratios

GOOD = {
    "turns": 22, "answered": 21, "cut_off": 1, "first_sound_p50_ms": 90.0,
    "first_sound_p90_ms": 150.0, "latency_p50_ms": 500.0, "underruns": 0, "peak_memory_mb": 900.0,
}  # fmt: skip


def test_rows_are_quants_layouts_and_busy_programs_then_the_embedded_voice() -> None:
    rows = plan(parse(["--checkpoint", "X", "--voice", "ryan"]))
    assert len(rows) == 2 * 2 * 2 + 1
    assert [row.busy for row in rows[:4]] == [0, 1, 0, 1]
    assert rows[0].label == "q4_k_m + q8_0, fed"
    assert "tts.streaming_text=true" in rows[0].settings
    assert "tts.streaming_text=false" in rows[2].settings
    assert "tts.voice=ryan" in rows[0].settings
    assert rows[-1].label == EMBEDDED
    assert rows[-1].settings == ()


def test_a_row_is_good_when_sound_comes_early_and_never_runs_dry() -> None:
    row = Row("x", 0, 22, 22, 120.0, 200.0, 500.0, 0, 900.0)
    assert row.good()
    assert not Row("x", 0, 22, 22, 121.0, 200.0, 500.0, 0, 900.0).good()
    assert not Row("x", 0, 22, 22, 120.0, 201.0, 500.0, 0, 900.0).good()
    assert not Row("x", 0, 22, 22, 120.0, 200.0, 500.0, 1, 900.0).good()
    embedded = Row(EMBEDDED, 0, 22, 22, 50.0, 50.0, 400.0, 0, 500.0)
    busy = Row("x", 1, 22, 22, 120.0, 200.0, 900.0, 0, 900.0)
    assert voice_ratios([row, busy, embedded]) == {"x": 1.25}
    assert voice_ratios([row]) == {}


@pytest.mark.parametrize("latency_ms", [500.0, 900.0])
def test_the_command_converses_in_processes_and_ends_with_json(
    latency_ms: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if command[0] == "git":
            return subprocess.CompletedProcess(command, 0, stdout="abc")
        commands.append(command)
        mine = latency_ms if "tts.backend=qwen3" in command else 500.0
        line = json.dumps({**GOOD, "latency_p50_ms": mine})
        return subprocess.CompletedProcess(command, 0, stdout=f"a table\n{line}\n")

    monkeypatch.setattr(conversation.subprocess, "run", run)
    monkeypatch.setattr(conversation, "busy_programs", lambda count: nullcontext())
    arguments = ["--checkpoint", "X", "--predictor-quants", "q4_k_m", "--picture", "a.png"]
    code = main(arguments)
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(commands) == len(told["rows"]) == 5
    assert [str(Path("a.png")) in command for command in commands] == [True, *[False] * 4]
    assert (code, told["good"]) == ((0, True) if latency_ms == 500.0 else (1, False))


def test_a_conversation_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="no model")
    monkeypatch.setattr(conversation.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="q8_0, fed: the conversation failed: no model"):
        main(["--checkpoint", "X"])
