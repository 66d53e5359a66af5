"""The codec decoder of Qwen3-TTS on ExecuTorch itself:
tests/tts/qwen3/executorch/test_codec.py."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.executorch.codec import ExecutorchCodecDecoder
from s2s.tts.qwen3.executorch.codec_graph import MOST_FRAMES
from s2s.tts.qwen3.interfaces import Stopped
from tests.support.qwen3_golden import DATA

TOLERANCE = 1e-4
SPLITS = ([1, 2, 3, 5, 7, 11, 13, 17, 19, 23], [73, 1, 97], [590, 10], [25], [8])
FOLDER = Path(sys.argv[1])
TOLD: dict[str, object] = {}


def open_placed(placement: str) -> ExecutorchCodecDecoder:
    """As a setting names it."""
    codec = write_checkpoint(FOLDER / f"for-{placement}", "0.6b-base") / "speech_tokenizer"
    decoder = open_decoder(codec, FOLDER / "graphs", placement=placement)
    return decoder  # type: ignore[return-value]


def split(decoder: ExecutorchCodecDecoder, codes: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Frames in calls of the given sizes, over and over."""
    state, parts, start, call = decoder.new_state(), [], 0, 0
    while start < len(codes):
        size = sizes[call % len(sizes)]
        parts.append(decoder.decode(state, codes[start : start + size]))
        start, call = start + size, call + 1
    return np.concatenate(parts)


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Sample for sample within the tolerance."""
    return one.shape == other.shape and bool(np.abs(one - other).max() <= TOLERANCE)


def sounds(
    decoder: ExecutorchCodecDecoder, codes: np.ndarray, golden: dict[str, np.ndarray]
) -> None:
    """Against the official package, and against itself under every split."""
    TOLD["it is ExecuTorch's"] = isinstance(decoder, ExecutorchCodecDecoder)
    whole = decoder.decode(decoder.new_state(), codes)
    kept = whole.reshape(len(codes), -1)[golden["kept_frames"]]
    TOLD["official sound"] = near(kept, golden["pcm"]) and bool(golden["pcm"].std() > 0.05)
    for sizes in SPLITS:
        TOLD[f"split {sizes[0]}"] = near(split(decoder, codes, sizes), whole)
    random = np.random.default_rng(7)
    for turn in range(3):
        sizes = random.integers(1, 40, 30).tolist()
        TOLD[f"any split {turn}"] = near(split(decoder, codes[:200], sizes), whole[: 200 * 1920])
    warm = decoder.new_state()
    decoder.decode(warm, codes[:37])
    forks = [decoder.decode(decoder.fork(warm), codes[37:60]) for _ in range(2)]
    expected = whole[37 * 1920 : 60 * 1920]
    TOLD["a primed voice goes on"] = all(near(each, expected) for each in forks)
    cold = decoder.decode(decoder.new_state(), codes[37:60])
    TOLD["a cold one does not"] = bool(np.abs(cold - expected).max() > 0.05)


def states(decoder: ExecutorchCodecDecoder, codes: np.ndarray) -> None:
    """Streams at once, states of another decoder, and stopping."""
    streams = [codes[at : at + 12] for at in (0, 100, 200)]
    alone = [split(decoder, stream, [3]) for stream in streams]
    with ThreadPoolExecutor(len(streams)) as pool:
        together = list(pool.map(lambda stream: split(decoder, stream, [3]), streams))
    TOLD["streams at once"] = all(map(near, alone, together))
    other = open_placed("onnx")
    state, theirs = decoder.new_state(), other.new_state()
    expected = decoder.decode(state, codes[:90])
    other.decode(theirs, codes[:80])
    taken = decoder.restore(other.export(theirs), theirs.position)
    TOLD["another decoder's state"] = near(
        decoder.decode(taken, codes[80:90]), expected[80 * 1920 :]
    )
    asked: list[int] = []

    def stale() -> bool:
        asked.append(1)
        return len(asked) > 2

    state = decoder.new_state()
    try:
        decoder.decode(state, codes[:50], stale)
    except Stopped:
        TOLD["stopped"] = len(asked) == 3 and state.position == 0
    every = MOST_FRAMES + 1
    asked.clear()
    decoder.decode(decoder.new_state(), codes[:8], lambda: bool(asked.append(1)))
    TOLD["asked before every piece"] = len(asked) == every
    random = np.random.default_rng(9)
    for most in random.integers(1, 60, 8).tolist():
        asked.clear()
        state = decoder.new_state()
        try:
            decoder.decode(
                state, codes[:50], lambda most=most: len(asked) >= most or bool(asked.append(1))
            )
        except Stopped:
            state.close()
    again = decoder.decode(decoder.new_state(), codes[:50])
    TOLD["stopped at random, nothing is left"] = near(again, expected[: 50 * 1920])
    state = decoder.new_state()
    state.close()
    try:
        decoder.decode(state, codes[:1])
    except ValueError as error:
        TOLD["closed"] = "closed" in str(error)


with np.load(DATA / "codec_decoder.npz") as archive:
    GOLDEN = dict(archive)
DECODER, CODES = open_placed("executorch"), GOLDEN["codes"].astype(np.int64)
sounds(DECODER, CODES, GOLDEN)
states(DECODER, CODES)
print(json.dumps(TOLD))
