"""Qwen3-TTS in Qualcomm's own compiler and simulator: tests/tts/qwen3/fixed/qnn/test_simulated.py.

All parts of a tiny model are compiled, and each graph once more taken from what was kept. The
simulator takes seconds for a frame: the codec decodes 3, talker and predictor speak 8; with "whole"
behind the folder 15 and 52, as a device does before it speaks. Prints the figures of each graph,
and last what was found.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.backend import as_predictor, as_talker
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.admission import TRIAL_FRAMES
from s2s.tts.qwen3.fixed.codec import FixedCodecDecoder
from s2s.tts.qwen3.fixed.language import open_predictor, open_talker
from s2s.tts.qwen3.fixed.predictor_graph import predictor_slots
from s2s.tts.qwen3.fixed.providers import RuntimeProvider, provider_named
from s2s.tts.qwen3.fixed.trial import LanguageTrial, codec_error
from s2s.tts.qwen3.fixed.weights import FIXED_F32, FIXED_MIXES

FOLDER = Path(sys.argv[1])
WHOLE = sys.argv[2:] == ["whole"]
FRAMES, RUNS = (TRIAL_FRAMES, (8, 4, 2, 1)) if WHOLE else (8, (2, 1))
TOLD: dict[str, object] = {}
CHIP = provider_named("qnn:simulate=1")


def contexts(folder: Path) -> dict[str, int]:
    """When each compiled graph below was written, in nanoseconds, by the graph's name."""
    found = folder.glob("compiled-qnn/soc57-v75-f16/*/context_qnn.bin")
    return {path.parent.name.rpartition("-")[0]: path.stat().st_mtime_ns for path in found}


def compiles(folder: Path, told: str) -> None:
    """Every graph of a folder, whole; the second time nothing is compiled."""
    graphs = sorted(folder.glob("*.onnx"))
    for graph in graphs:
        began = time.monotonic()
        CHIP.open(graph, 1)
        seconds = time.monotonic() - began
        (binary,) = folder.glob(f"compiled-qnn/*/{graph.stem}-{'?' * 16}/context_qnn.bin")
        print(f"{graph.stem}: compiled in {seconds:.1f} s, {binary.stat().st_size:,} bytes")
    made = contexts(folder)
    TOLD[f"{told} compiled"] = sorted(made) == [graph.stem for graph in graphs]
    for graph in graphs:
        CHIP.open(graph, 1)
    TOLD[f"{told} kept"] = contexts(folder) == made


def language(checkpoint: Path, quant: str) -> None:
    """Talker and predictor: greedy codes beside the processor's, of the same graphs."""
    folder = convert(checkpoint, quant, converted=FOLDER / "converted")
    spec = read_spec(folder)
    compiles(folder, f"{quant} language model")
    trial = LanguageTrial(folder, spec, 1, frames=FRAMES)
    talker, part = open_talker(folder, spec, CHIP, 1)
    part.graphs.admit(lambda: trial.talker(as_talker(talker)))
    TOLD[f"{quant} talker"] = part.graphs.remark
    predictor, part = open_predictor(folder, spec, CHIP, 1)
    part.graphs.admit(lambda: trial.predictor(as_predictor(predictor)))
    TOLD[f"{quant} predictor"] = part.graphs.remark
    steps, part = open_predictor(folder, spec, CHIP, 1, draft_tokens=1)
    short = LanguageTrial(folder, spec, 1, frames=1)
    TOLD[f"{quant} predictor pass by pass"] = str(short.predictor(as_predictor(steps)))
    TOLD["slots"] = predictor_slots(spec)
    if quant != FIXED_F32:
        exact = LanguageTrial(
            convert(checkpoint, FIXED_F32, converted=FOLDER / "converted"), spec, 1, frames=FRAMES
        )
        TOLD[f"{quant} talker, beside float32"] = exact.talker(as_talker(talker)).share
        TOLD[f"{quant} predictor, beside float32"] = exact.predictor(as_predictor(predictor)).share


def codec(source: Path) -> None:
    """The codec: sound of two graphs, one after the other."""
    cache = FOLDER / "graphs"
    clean = open_decoder(source, cache, placement="fixed")
    assert isinstance(clean, FixedCodecDecoder)
    (folder,) = cache.iterdir()
    compiles(folder, "codec")
    spec = read_codec_spec(source).decoder
    decoder = FixedCodecDecoder(spec, folder, CHIP)
    found = codec_error(decoder, clean, spec.code_groups, spec.codebook_size, RUNS)
    TOLD["codec"] = found.snr_db
    TOLD["codec on the processor"] = decoder.remark


def refusals() -> None:
    """A graph with an operator that there is not, a chip that there is not, a damaged context."""
    with GraphBuilder(FOLDER, "refused") as graph:
        given = graph.input("given", np.float32, (4, 4))
        graph.output("found", graph.op("Det", graph.op("Add", given, given)), np.float32, ())
        refused = graph.save({"version": "1"})
    for name, provider in (
        ("operator", CHIP),
        ("chip", provider_named("qnn:soc_model=9999,simulate=1")),
    ):
        try:
            provider.open(refused, 1)
        except ProviderError as error:
            TOLD[f"refused {name}"] = str(error)
    with GraphBuilder(FOLDER, "added") as graph:
        given = graph.input("given", np.float32, (4, 4))
        graph.output("found", graph.op("Add", given, given), np.float32, (4, 4))
        added = graph.save({"version": "1"})
    CHIP.open(added, 1)
    (binary,) = FOLDER.glob("compiled-qnn/*/added-*/context_qnn.bin")
    binary.write_bytes(bytes(reversed(binary.read_bytes())))
    (found,) = CHIP.open(added, 1).run(None, {"given": np.ones((4, 4), np.float32)})
    TOLD["damaged, made again"] = bool((abs(found - 2) < 1e-3).all())


CHECKPOINT = write_checkpoint(FOLDER / "checkpoint", "0.6b-base")
TOLD["providers"] = isinstance(provider_named("cpu"), RuntimeProvider) and CHIP.missing() is None
refusals()
for each in FIXED_MIXES:
    language(CHECKPOINT, each)
codec(CHECKPOINT / "speech_tokenizer")
print(json.dumps(TOLD))
