"""The command that exports Qwen3-TTS for ExecuTorch: tests/tts/qwen3/executorch/test_export.py."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
from pathlib import Path

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.errors import Qwen3Error
from s2s.tts.qwen3.executorch.codec_graph import codec_methods
from s2s.tts.qwen3.executorch.language import open_talker
from s2s.tts.qwen3.executorch.parts import lowered_edge
from s2s.tts.qwen3.executorch.quant import EXPORT_MIXES
from s2s.tts.qwen3.executorch.transformer import predictor_methods, talker_methods
from s2s.tts.qwen3.executorch.weights import read_export_record

FOLDER = Path(sys.argv[1])
os.environ["S2S_HOME"] = str(FOLDER / "home")
TOLD: dict[str, object] = {}


def command(*words: str) -> tuple[int, list[str]]:
    """Its exit status and what it printed, in lines."""
    from s2s.app import cli

    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        status = cli.main(["models", "export", *words])
    return int(status or 0), told.getvalue().splitlines()


def exports(source: Path) -> None:
    """Twice: the second time nothing is made."""
    words = [str(source), "--to", "executorch", "--quant", "et-8"]
    status, lines = command(*words)
    folder, codec = (Path(line) for line in lines[-2:])
    TOLD["exports"] = status == 0 and (folder / "talker.pte").is_file() and codec.is_file()
    TOLD["prints both"] = folder.name.startswith("official-et-8") and codec.name == "codec.pte"
    record = read_export_record(folder / "predictor.pte")
    beside = read_export_record(codec)
    TOLD["record"] = (record.quant, record.executorch, beside.quant) == ("et-8", "1.5.1", "f32")
    before = [path.stat().st_mtime_ns for path in (folder / "talker.pte", codec)]
    status, again = command(*words)
    after = [path.stat().st_mtime_ns for path in (folder / "talker.pte", codec)]
    TOLD["nothing is made again"] = status == 0 and (again, after) == (lines, before)
    program = folder / "talker.pte"
    program.write_bytes(program.read_bytes()[:1000])
    try:
        open_talker(folder, read_spec(folder))
    except Qwen3Error as error:
        TOLD["a damaged program is named"] = "talker.pte" in str(error)


def delegated(source: Path) -> None:
    """No operator of any method is left outside of XNNPACK."""
    spec, weights = read_spec(source), Checkpoint(source)
    tokenizer = source / "speech_tokenizer"
    methods = talker_methods(spec, weights, EXPORT_MIXES["et-4"])
    heads = predictor_methods(spec, weights, EXPORT_MIXES["et-8"])
    methods |= {name: heads[name] for name in ("head_0", "projection") if name in heads}
    methods |= codec_methods(read_codec_spec(tokenizer).decoder, Checkpoint(tokenizer))
    edge = lowered_edge(methods, "xnnpack")
    outside = {
        str(node.target)
        for name in edge.methods
        for node in edge.exported_program(name).graph.nodes
        if node.op == "call_function"
    }
    TOLD["all goes to XNNPACK"] = outside == {
        "executorch_call_delegate", "<built-in function getitem>"
    }  # fmt: skip


def elsewhere(source: Path) -> None:
    """Made, or refused in a sentence: which depends on the machine."""
    try:
        status, _ = command(str(source), "--to", "executorch", "--delegate", "qnn")
    except SystemExit as ended:
        status = 1 if ended.code else 0
    TOLD["an export for qnn says what happened"] = status in (0, 1)


logging.getLogger().setLevel(logging.ERROR)
OFFICIAL = write_checkpoint(FOLDER / "official", "1.7b-base")
exports(OFFICIAL)
delegated(OFFICIAL)
elsewhere(OFFICIAL)
print(json.dumps(TOLD))
