"""Speak with one engine and say when its sound came: run by `s2s.bench.peers.compare`, in the
engine's own interpreter. Needs numpy, the engine, and for "s2s" this project.

    PYTHON s2s/bench/peers/run.py NAME --model PATH --threads 2 --frames 50 --runs 2

Prints one line of JSON. Every engine is asked for the same: one voice given as a vector, the
official sampling settings, so many frames at most. An engine that cannot run says why: {"error"}.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnusedImport=false
# Other engines, which have no types here.
from __future__ import annotations

import argparse
import importlib.metadata
import json
import resource
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

TEXT = (
    "The harbour was quiet when the first boats came in, and the light lay flat on the water. "
    "Somebody had left a lantern burning at the end of the pier, although the sun was long up, "
    "and two children were trying to decide which of them should walk out and put it out."
)
RATE_HZ = 24_000
SAMPLING = {"temperature": 0.9, "top_k": 50, "top_p": 1.0, "repetition_penalty": 1.05}

Speak = Callable[[int, int], Iterator[int]]
"""(frames at most, seed) to the samples of each chunk, as they come."""


def voice(width: int) -> np.ndarray:
    """The speaker vector: float32 [width]."""
    return np.random.default_rng(0).standard_normal(width, np.float32)


def s2s(model: Path, threads: int, options: dict[str, str]) -> Speak:
    """This project's engine. options: quant, predictor_quant, backend, home."""
    from s2s.bench.qwen3.settings import BenchSetting, open_setting, warm
    from s2s.bench.qwen3.utterances import exactly

    setting = BenchSetting(
        source=model,
        home=Path(options["home"]),
        quant=options["quant"],
        predictor_quant=options["predictor_quant"],
        backend=options["backend"],
        threads=threads,
    )
    opened = open_setting(setting)
    bench = warm(opened)

    def speak(frames: int, seed: int) -> Iterator[int]:
        speech = opened.speak(
            bench.request,
            seed=seed,
            schedule=bench.schedule,
            generation=exactly(opened.spec.generation, frames),
        )
        for chunk in speech.chunks:
            yield chunk.pcm.size

    return speak


def official(model: Path, threads: int, options: dict[str, str]) -> Speak:
    """The official package, on torch. options: dtype."""
    import torch  # pyright: ignore[reportMissingImports]

    stand_in_for_torchaudio()
    from qwen_tts import Qwen3TTSModel  # pyright: ignore[reportMissingImports]
    from qwen_tts.inference.qwen3_tts_model import VoiceClonePromptItem  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(threads)
    dtype = getattr(torch, options["dtype"])
    opened = Qwen3TTSModel.from_pretrained(
        str(model), device_map="cpu", dtype=dtype, attn_implementation="sdpa"
    )
    width = opened.model.config.talker_config.hidden_size
    item = VoiceClonePromptItem(
        ref_code=None,
        ref_spk_embedding=torch.from_numpy(voice(width)).to(dtype),
        x_vector_only_mode=True,
        icl_mode=False,
        ref_text=None,
    )

    def speak(frames: int, seed: int) -> Iterator[int]:
        torch.manual_seed(seed)
        with torch.inference_mode():
            sounds, _ = opened.generate_voice_clone(
                TEXT,
                language="English",
                voice_clone_prompt=[item],
                max_new_tokens=frames + 1,
                **SAMPLING,
            )
        yield len(sounds[0])

    return speak


def stand_in_for_torchaudio() -> None:
    """An empty torchaudio where there is none: the package imports it for another model's tokenizer
    and torch has more wheels for processors alone than it has."""
    import transformers  # noqa: F401 - looks for torchaudio itself, and must not find ours

    try:
        import torchaudio.compliance.kaldi  # noqa: F401  # pyright: ignore[reportMissingImports]
    except (ImportError, OSError):
        for name in ("torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi"):
            sys.modules[name] = types.ModuleType(name)
        vars(sys.modules["torchaudio.compliance"])["kaldi"] = sys.modules[name]


def vox(model: Path, threads: int, _options: dict[str, str]) -> Speak:
    """vox-tts. The model is a .tmod file."""
    from vox import Engine  # pyright: ignore[reportMissingImports]
    from vox.formats import VoiceProfile, read_tmod_manifest  # pyright: ignore[reportMissingImports]

    manifest = read_tmod_manifest(str(model))
    path = model.with_suffix(".tvoice")
    VoiceProfile(
        speaker_emb=voice(manifest["qwen3"]["talker"]["hidden_size"]),
        mode="xvector_only",
        model={
            key: manifest["model"].get(key, "") for key in ("family", "variant", "weights_sha256")
        },
    ).save(str(path))
    engine = Engine(str(model), "cpu", threads)
    known = engine.load_voice(path)

    def speak(frames: int, seed: int) -> Iterator[int]:
        for chunk in engine.stream(TEXT, known, max_frames=frames, seed=seed, **SAMPLING):
            yield len(chunk)

    return speak


def qwentts(model: Path, threads: int, options: dict[str, str]) -> Speak:
    """qwentts.cpp, by its CPU wheel. The model is the folder of the two files."""
    from qwentts_cpp_cpu import QwenTTS  # pyright: ignore[reportMissingImports]

    quant = options["quant"]
    engine = QwenTTS(
        model / f"talker-{quant}.gguf", model / f"tokenizer-{quant}.gguf", cpu_threads=threads
    )
    vector = voice(int(options["width"]))

    def speak(frames: int, seed: int) -> Iterator[int]:
        chunks = engine.stream(
            text=TEXT,
            lang="english",
            ref_spk_emb=vector,
            seed=seed,
            max_new_tokens=frames,
            **SAMPLING,
        )
        for samples, _ in chunks:
            yield len(samples)

    return speak


def mnn(model: Path, threads: int, _options: dict[str, str]) -> Speak:
    """qwen3-tts-mnn. It can only clone in context, so the voice is the vector and one frame."""
    from qwen3_tts_mnn import Qwen3TtsMnn  # pyright: ignore[reportMissingImports]

    engine = Qwen3TtsMnn(str(model), num_threads=threads, language="english")
    shapes = json.loads((model / "weights" / "meta.json").read_text(encoding="utf-8"))
    width = shapes["codec_embedding"]["shape"][1]
    engine.set_voice(np.zeros((1, 16), np.int32), voice(width), ref_text="A.")

    def speak(frames: int, seed: int) -> Iterator[int]:
        yield engine.synthesize(TEXT, max_steps=frames, seed=seed, **SAMPLING).size

    return speak


ENGINES: dict[str, tuple[str, Callable[[Path, int, dict[str, str]], Speak]]] = {
    "s2s": ("s2s", s2s),
    "official": ("qwen-tts", official),
    "vox": ("vox-tts", vox),
    "qwentts": ("realtimetts-qwen-native-cpu", qwentts),
    "mnn": ("qwen3-tts-mnn", mnn),
}
"""Name to the package that is measured, and how it is opened."""


def timed(speak: Speak, frames: int, seed: int) -> dict[str, list[float]]:
    """One utterance: when each chunk came, and how long it sounds, in seconds."""
    began_s = time.perf_counter()
    at_s: list[float] = []
    lasts_s: list[float] = []
    for samples in speak(frames, seed):
        if samples:
            at_s.append(time.perf_counter() - began_s)
            lasts_s.append(samples / RATE_HZ)
    return {"at_s": at_s, "lasts_s": lasts_s}


def version(package: str) -> str:
    """The installed version; "" where the package is not installed but lies there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> None:
    """Speak once unheard, then so many times, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", choices=list(ENGINES))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--warm-frames", type=int, default=4)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    package, opens = ENGINES[arguments.name]
    found: dict[str, object] = {"package": package, "version": version(package)}
    try:
        began_s = time.perf_counter()
        options = dict(pair.split("=", 1) for pair in arguments.set)
        speak = opens(arguments.model, arguments.threads, options)
        found["load_s"] = round(time.perf_counter() - began_s, 2)
        timed(speak, arguments.warm_frames, 0)
        found["runs"] = [timed(speak, arguments.frames, seed) for seed in range(arguments.runs)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found["peak_memory_mb"] = round(
            peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6, 1
        )
    except Exception as error:  # noqa: BLE001 - whatever keeps a peer from running is its result
        found["error"] = f"{type(error).__name__}: {error}".strip()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
