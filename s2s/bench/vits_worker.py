"""One engine for Piper voices in a process of its own: run by `s2s.bench.vits` in the Python that
the engine is installed in. Needs numpy, the engine, and for "s2s" and "one-shot" this project.

    PYTHON s2s/bench/vits_worker.py ENGINE --model PATH --threads 2

Reads lines of phoneme numbers as JSON; prints a line of arrivals for each.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# Other engines, which have no types here.
from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SCALES = (0.667, 1.0, 0.8)

Sounds = Iterator[int]
"""Samples of each piece, as it comes."""


def load_s2s(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """This project's engine."""
    from s2s.tts.vits import VitsEngine, load_engine

    engine = load_engine(model, threads=threads)
    assert isinstance(engine, VitsEngine)

    def speak(ids: list[int]) -> Sounds:
        for piece in engine.begin(ids).pieces():
            yield len(piece.samples)

    return speak


def load_one_shot(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """The whole graph in one call, with the same session options."""
    import numpy as np

    from s2s.system.onnx import onnx_session

    session = onnx_session(model, threads=threads)

    def speak(ids: list[int]) -> Sounds:
        feed = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array(SCALES, np.float32),
        }
        yield int(np.asarray(session.run(None, feed)[0]).size)

    return speak


def load_streaming_vits(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """streaming-vits, calibrated as its README says; the profile is kept beside the model."""
    import numpy as np
    from streaming_vits import phonemize  # pyright: ignore[reportMissingImports]
    from streaming_vits.calibrate import calibrate  # pyright: ignore[reportMissingImports]
    from streaming_vits.engine import StreamingTTS  # pyright: ignore[reportMissingImports]
    from streaming_vits.profile import Profile  # pyright: ignore[reportMissingImports]

    phonemize.build = lambda *_, **__: None  # phonemes are given
    kept = model.with_name(f"profile-{threads}.json")
    profile = Profile.load(kept) if kept.exists() else Profile(threads=threads)
    engine = StreamingTTS(model, profile=profile, threads=threads, verbose=False)
    current: list[list[int]] = [[1, 0] + [20, 0, 30, 0, 14, 0] * 60 + [2]]
    engine.phoneme_ids = lambda _: (np.array([current[0]], np.int64), 0)
    if not kept.exists():
        engine.profile = calibrate(engine, verbose=False)
        engine.profile.save(kept)

    def speak(ids: list[int]) -> Sounds:
        current[0] = ids
        for chunk in engine.stream(""):
            yield len(chunk.audio)

    return speak


def load_phoonnx(model: Path, threads: int) -> Callable[[list[int]], Sounds]:
    """phoonnx with "streaming": true. Its encoder takes every core it is allowed to use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    from phoonnx.voice import TTSVoice  # pyright: ignore[reportMissingImports]

    path = model.with_name(model.name + ".json")
    config = json.loads(path.read_text(encoding="utf-8"))
    config |= {"streaming": True, "engine_params": {"intra_op_num_threads": threads}}
    path.write_text(json.dumps(config), encoding="utf-8")
    voice = TTSVoice.load(str(model))

    def speak(ids: list[int]) -> Sounds:
        yield int(voice.phoneme_ids_to_audio(ids).size)

    return speak


LOADERS = {
    "s2s": load_s2s,
    "one-shot": load_one_shot,
    "streaming-vits": load_streaming_vits,
    "phoonnx": load_phoonnx,
}


def work(engine: str, model: Path, threads: int) -> None:
    """The engine's process: a line of phoneme numbers in, a line of arrivals out."""
    speak = LOADERS[engine](model, threads)
    print("ready", flush=True)
    for line in sys.stdin:
        ids = json.loads(line)
        begin = time.perf_counter()
        arrivals = [(time.perf_counter() - begin, samples) for samples in speak(ids)]
        print("run " + json.dumps({"arrivals": arrivals, "peak_mb": peak_mb()}), flush=True)


def peak_mb() -> float:
    """Most memory that this process ever held, MiB; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = status.read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Parse and work until the input ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("engine", choices=list(LOADERS))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    found = parser.parse_args()
    work(found.engine, found.model, found.threads)


if __name__ == "__main__":
    main()
