"""Damages files of a tiny Qwen3-TTS checkpoint, and tries what becomes of it, each case in a
process of its own with limits on time and memory.

    python -m tests.tts.qwen3.damage FOLDER < cases.json      # one result a line, as JSON

The runner imports everything once and forks for each case. Knows no single file: see `DAMAGES`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.support.limits import limited

_ODD: tuple[object, ...] = (
    None, True, -1, 0, 1, 2, 3, 7, 33, 10**9, 10**18, 2**31, 2**63, 1.5, -0.5, float("nan"),
    float("inf"), 1e-300, 1e300, "", "x", "silu ", [], [1], [[]], {}, {"rope_type": "linear"},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """What is damaged and how. core: "native", "onnx" or "ggml"; what: an attempt of the runner;
    file: below the checkpoint or the home."""

    core: str
    what: str
    file: str
    damage: str
    seed: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: "works", "refused" (the documented error, ``text`` its message) or else."""

    case: Case
    end: str
    text: str = ""
    seconds: float = 0.0


# --- damages -----------------------------------------------------------------------------------


def truncate(content: bytes, chance: random.Random) -> bytes:
    """The beginning of it."""
    return content[: chance.choice((0, 1, 7, 40, len(content) // 2, max(0, len(content) - 1)))]


def flip(content: bytes, chance: random.Random) -> bytes:
    """A few bytes of it are others."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def flip_head(content: bytes, chance: random.Random) -> bytes:
    """A few bytes of its first kilobytes are others."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        changed[chance.randrange(min(6000, len(changed)))] = chance.randrange(256)
    return bytes(changed)


def noise(content: bytes, chance: random.Random) -> bytes:
    """Something else, as long."""
    return chance.randbytes(min(len(content), 4096))


def field(content: bytes, chance: random.Random) -> bytes:
    """A field of a JSON file has another value, or is gone."""
    return _dump(_change(json.loads(content), chance))


def nested(content: bytes, chance: random.Random) -> bytes:
    """JSON that is nested too deeply."""
    return b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"


def header(content: bytes, chance: random.Random) -> bytes:
    """A field of a safetensors header has another value."""
    length = int.from_bytes(content[:8], "little")
    text = _dump(_change(json.loads(content[8 : 8 + length]), chance))
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def not_a_number(content: bytes, chance: random.Random) -> bytes:
    """A weight of a safetensors file is NaN or infinite, in bfloat16 and in float32."""
    length = int.from_bytes(content[:8], "little")
    changed = bytearray(content)
    at = 8 + length + chance.randrange((len(content) - 8 - length) // 4) * 4
    changed[at : at + 4] = chance.choice((b"\xc0\x7f\xc0\x7f", b"\x80\x7f\x80\x7f"))
    return bytes(changed)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    each.__name__: each
    for each in (truncate, flip, flip_head, noise, field, nested, header, not_a_number)
}


def _change(whole: Any, chance: random.Random) -> Any:
    """One value somewhere in a JSON object is another, or gone."""
    inside = whole
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return whole
        key = chance.choice(keys)
        deeper = inside[key]
        if isinstance(deeper, dict | list) and deeper and chance.random() < 0.8:
            inside = deeper
            continue
        if isinstance(inside, dict) and chance.random() < 0.1:
            del inside[key]
        else:
            inside[key] = chance.choice(_ODD)
        return whole


def _dump(content: object) -> bytes:
    return json.dumps(content).encode()


def apply(path: Path, damage: str, seed: int) -> None:
    """Damage a file; it is a file of its own then, whatever links there were."""
    content = DAMAGES[damage](path.read_bytes(), random.Random(f"{path.name} {damage} {seed}"))
    path.unlink()
    path.write_bytes(content)


# --- attempts ----------------------------------------------------------------------------------

QUANTS = {"native": "q8_0", "onnx": "int8", "ggml": "q8_0"}


def speak(core: str, source: Path, home: Path, *, voice: str = "") -> None:
    """Open the model and say a few frames; every sample is a number, or the answer fails."""
    import numpy as np

    from s2s.tts.qwen3 import DevicePlacements, Generation, Request, open_model
    from s2s.tts.qwen3.sampling import Sampling

    codec = "native" if core == "native" else "onnx"
    placement = DevicePlacements(core, core, codec)
    model = open_model(source, home, quant=QUANTS[core], placement=placement)
    greedy = Sampling(greedy=True)
    generation = Generation(talker=greedy, predictor=greedy, max_new_tokens=5, min_new_tokens=5)
    if voice:
        request = Request("Hi.", reference=model.reference(voice))
    else:
        speakers = sorted(model.spec.speakers)
        request = Request("Hi.", language="english", speaker=speakers[0] if speakers else None)
    for chunk in model.speak(request, generation=generation).chunks:
        assert np.isfinite(chunk.pcm).all(), "a sample that is no number"
        assert np.abs(chunk.pcm).max() <= 1.0, "a sample beyond full scale"


def enrol(source: Path, home: Path) -> None:
    """Make a voice of a second of noise."""
    import numpy as np

    from s2s.tts.qwen3 import enrol_voice

    pcm = np.random.default_rng(0).standard_normal(24_000).astype(np.float32) * np.float32(0.1)
    enrol_voice("other", pcm, "noise", model=str(source), home=home)


def attempt(case: Case, store: Path, scratch: Path) -> None:
    """Damage a copy and use it. store: what `prepare` made; read only."""
    home, source = scratch / "home", scratch / "source"
    shutil.copytree(store / case.core / "home", home, copy_function=os.link)
    inside = source
    if case.what == "official":
        kind = "base" if "speaker" in case.damage else "custom"
        shutil.copytree(store / kind, source, copy_function=os.link)
    elif case.what in ("converted", "unsealed"):
        (found,) = (home / "qwen3-converted").glob("custom-*")
        shutil.copytree(found, source, copy_function=os.link)
        if case.what == "unsealed":  # as older programs have made it
            (source / "files.json").unlink()
    elif case.what == "enrol":
        shutil.copytree(store / "base", source, copy_function=os.link)
    else:
        inside = home
        shutil.copytree(store / case.what, source, copy_function=os.link)
    files = sorted(inside.rglob(case.file))
    assert files, f"no {case.file} in {inside}"
    apply(random.Random(case.seed).choice(files), case.damage, case.seed)
    if case.what == "enrol":
        enrol(source, home)
    else:
        speak(case.core, source, home, voice="someone" if case.what == "base" else "")


def prepare(store: Path, core: str) -> None:
    """Make what cases of a core start from, whole: converted models, graphs, a voice."""
    home = store / core / "home"
    speak(core, store / "custom", home)
    enrol(store / "base", home)
    (home / "voices" / "other.voice.npz").rename(home / "voices" / "someone.voice.npz")
    speak(core, store / "base", home, voice="someone")


# --- the runner --------------------------------------------------------------------------------


def run(case: Case, store: Path) -> Outcome:
    """One case in a forked process."""
    from s2s.tts.qwen3.errors import Qwen3Error

    scratch = store / f"case-{os.getpid()}"
    scratch.mkdir()
    began = time.monotonic()
    end, text = limited(lambda: attempt(case, store, scratch), Qwen3Error)
    shutil.rmtree(scratch, ignore_errors=True)
    return Outcome(case, end, text, time.monotonic() - began)


def warm_up(core: str) -> None:
    """Load libraries before forking, but start none of their threads."""
    import onnxruntime  # noqa: F401

    import s2s.tts.qwen3.backends
    import s2s.tts.qwen3.model  # noqa: F401

    if core == "ggml":
        from s2s.tts.qwen3.ggml.library import library

        library()


def main() -> None:
    store = Path(sys.argv[1])
    cases = [Case(**each) for each in json.load(sys.stdin)]
    warm_up(cases[0].core)
    for case in cases:
        sys.stdout.write(json.dumps(asdict(run(case, store))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
