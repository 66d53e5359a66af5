"""Which backend is the fastest on this machine, without converting a model for each.

A checkpoint of a few layers in the model's own shapes, all weights zero, goes through each
backend's own conversion and loading: products of zeros take as long as any. A few seconds a
backend, once a machine.
"""

from __future__ import annotations

import json
import logging
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from s2s.tts.qwen3.backend import Backend, DevicePlacement, Quants
from s2s.tts.qwen3.checkpoint.safetensors import language_model_shapes
from s2s.tts.qwen3.checkpoint.spec import Spec, read_json, read_spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.language import load_language
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

log = logging.getLogger(__name__)

_LAYERS = 4
_TEXT_IDS = 16
_PROMPT = 64
_STEPS = 12
_FRAMES = 6
_DECODED = 4
_HEADER_ALIGNMENT = 8


def frame_ms(backend: Backend, folder: Path, quants: Quants, home: Path, threads: int) -> float:
    """What talker and predictor need for a frame, in milliseconds.

    folder: a checkpoint, converted or not, whose shapes are tried. Raises what the backend raises
    when it cannot be had.
    """
    spec = read_spec(folder)
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="probe-", dir=home) as scratch:
        source = Path(scratch) / "zeros"
        write_zeros(source, folder)
        placement = DevicePlacement(backend)
        loaded = load_language(
            source, Path(scratch), quants, (placement, placement), threads=threads, kernels=home
        )
        found = _measure(loaded.language, spec)
    log.info("qwen3: %s needs %.1f ms a frame here", backend.name, found)
    return found


def write_zeros(target: Path, like: Path) -> None:
    """A checkpoint in the official layout with the shapes of another, but of few layers and text
    ids, all weights zero: a file with nothing in it, where the disk can do that."""
    config = json.loads(json.dumps(read_json(like / "config.json")))
    config["talker_config"]["num_hidden_layers"] = _LAYERS
    config["talker_config"]["text_vocab_size"] = _TEXT_IDS
    config["talker_config"].pop("layer_types", None)
    config |= dict.fromkeys(("tts_pad_token_id", "tts_bos_token_id", "tts_eos_token_id"), 0)
    codec = target / "speech_tokenizer"
    codec.mkdir(parents=True)
    (target / "config.json").write_text(json.dumps(config), encoding="utf-8")
    _write_zero_tensors(target / "model.safetensors", language_model_shapes(read_spec(target)))
    _write_zero_tensors(codec / "model.safetensors", {})


def _write_zero_tensors(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    header: dict[str, object] = {}
    offset = 0
    for name, shape in shapes.items():
        end = offset + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _HEADER_ALIGNMENT)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(file.tell() + offset)


def _measure(language: LanguageModel[T, P], spec: Spec) -> float:
    """Times the few layers, and reckons all of the talker's from them."""
    vectors = np.zeros((_PROMPT, spec.talker.hidden), np.float32)
    talker = language.talker.new_state(_PROMPT + _STEPS)
    predictor = language.predictor.new_state()
    greedy, draws = Sampling(greedy=True), SeededDraws(0)
    try:
        hidden = language.talker.prefill(talker, vectors).hidden
        steps = [_ms(lambda: language.talker.step(talker, hidden)) for _ in range(_STEPS)]
        frames = [
            _ms(lambda: language.predictor.frame(predictor, hidden, 0, greedy, draws))
            for _ in range(_FRAMES)
        ]
    finally:
        talker.close()
        predictor.close()
    return median(steps) * spec.talker.layers / _LAYERS + median(frames)


def _ms(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return 1000 * (perf_counter() - started)


def decoded_ms(decoder: CheckpointDecoder) -> float:
    """What a frame of sound costs, a few frames a call, in milliseconds."""
    codes = np.zeros((_DECODED, decoder.code_groups), np.int64)
    state = decoder.new_state()
    decoder.decode(state, codes)  # the first run is slower than all others
    found = median(_ms(lambda: decoder.decode(state, codes)) for _ in range(3)) / _DECODED
    state.close()
    return found
