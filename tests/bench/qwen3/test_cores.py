"""The table of all cores: which there are, where each runs, and what a row says."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest

from s2s.bench.conditions import Conditions
from s2s.bench.qwen3 import cores
from s2s.bench.qwen3.cores import AskedCore, CoresReport
from s2s.tts.qwen3 import BACKENDS

FIGURES: dict[str, object] = {
    "quant": "q4_k_m+q8_0", "codec": "native", "rtf": 0.9, "first_chunk_ms": 140.5, "load_s": 2.5,
    "peak_memory_mb": 1400.2, "others_cores": 0.1,
    "agreement": {"frames": 8, "first": 0.75, "codes": 0.5, "same_frames": 0},
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Command lines, of which the one of "ggml" fails and no other runs."""
    found: list[list[str]] = []

    def called(command: list[str], threads: int) -> str:
        found.append(command)
        core = command[command.index("--core") + 1]
        told = {} if "--prepare" in command else FIGURES
        return "\n" + json.dumps({"error": "no library"} if core == "ggml" else told)

    monkeypatch.setattr(cores, "called", called)
    monkeypatch.setattr(cores, "alone_in_one_thread", lambda make, *what: what[-1].touch())
    return found


def printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[list[str], dict[str, list[dict[str, object]]]]:
    monkeypatch.setattr(sys, "argv", ["cores", *arguments])
    monkeypatch.setattr(cores.signal, "signal", lambda *_: None)
    cores.main()
    *lines, last = capsys.readouterr().out.splitlines()
    return lines, json.loads(last)


def test_every_core_has_a_row_in_its_own_python(
    asked: list[list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, report = printed(
        capsys, monkeypatch, "--checkpoint", str(tmp_path), "--scratch", str(tmp_path / "new"),
        "--python", "mlx=venv/bin/python", "--quant", "q8_0", "--frames", "7",
    )  # fmt: skip
    names = [backend.name for backend in BACKENDS]
    assert [row["core"] for row in report["rows"]] == names
    for command in asked:
        core = command[command.index("--core") + 1]
        assert command[0] == ("venv/bin/python" if core == "mlx" else sys.executable)
        assert command[command.index("--quant") + 1] == "q8_0"
        assert command[command.index("--frames") + 1] == "7"
    ready = [("--prepare" in command) for command in asked]
    assert ready.count(True) == len(names)
    assert ready.count(False) == len(names) - 1, "what cannot be made ready is not measured"
    title, _, *rows = lines
    assert Conditions.here().cpu in title
    assert "cannot run here: no library" in next(row for row in rows if row.startswith("ggml"))
    native = next(row for row in rows if row.startswith("native"))
    assert native.split() == [
        "native", "q4_k_m+q8_0", "native", "0.9", "140.5", "2.5", "1400.2", "50.0%", "75.0%", "0.1",
    ]  # fmt: skip


def test_cores_may_be_named_with_their_quantisations_and_only_be_made_ready(
    asked: list[list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, report = printed(
        capsys, monkeypatch, "--checkpoint", str(tmp_path), "--scratch", str(tmp_path), "--prepare",
        "--core", "native:q5_k_m+q8_0", "--core", "ggml@gpu",
    )  # fmt: skip
    assert [row["core"] for row in report["rows"]] == ["native", "ggml@gpu"]
    first, second = asked
    assert first[first.index("--predictor-quant") + 1] == "q8_0"
    assert first[first.index("--quant") + 1] == "q5_k_m"
    assert "--predictor-quant" not in second
    assert [line.split(maxsplit=1)[1] for line in lines[2:]] == ["ready to be measured"] * 2


def test_what_is_named_wrongly_is_told() -> None:
    assert cores.asked_core("onnx:int4") == AskedCore("onnx", "int4")
    assert cores.core_python("mlx=a/b=c") == ("mlx", "a/b=c")
    with pytest.raises(argparse.ArgumentTypeError, match="'nobody' is no core; there are"):
        cores.asked_core("nobody:q8_0")
    with pytest.raises(argparse.ArgumentTypeError, match="write CORE=PYTHON"):
        cores.core_python("mlx")
    with pytest.raises(SystemExit):
        cores.parse(["--checkpoint", ".", "--scratch", "s", "--runs", "0"])


def test_a_process_that_ends_without_a_word_is_a_row_as_well() -> None:
    ended = cores.measured([sys.executable, "-c", "import sys; sys.exit('killed')"], 1)
    assert ended == {"error": "exit status 1: killed"}
    assert cores.measured([sys.executable, "-c", ""], 1) == {"error": "it printed nothing"}


def test_a_table_of_nothing_has_its_head() -> None:
    report = CoresReport("c", 1, 2, 3, 4, [], Conditions.here())
    title, head = cores.table(report)
    assert title.endswith("1 thread(s), 3 utterances of 2 frames; agreement over 4 frames")
    assert head.split()[:3] == ["core", "talker+predictor", "codec"]
