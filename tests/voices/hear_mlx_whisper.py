"""Whisper tiny.en on MLX: the weights of CTranslate2's model in MLX's layout."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import numpy as np

from s2s.core.audio import read_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import SttError
from s2s.stt.mlx_whisper import MlxWhisper, MlxWhisperConfig
from tests.support.mlx_whisper_folder import write_mlx

DATA = Path(__file__).parents[1] / "data"


def main(folder: Path) -> dict[str, str]:
    """Check -> "ok", or what came instead."""
    store = Store()
    model = str(write_mlx(store.path("whisper-tiny.en/model.bin"), folder / "model"))
    config = MlxWhisperConfig(model=model, half=False)
    audio = read_wav(DATA / "librivox_0880.wav", 16_000)[0]
    plain = MlxWhisper(config, Resources(store))
    heard = plain.transcribe(audio)
    told = {"words": "ok" if heard.text.startswith("He was not an") else heard.text}
    taught = MlxWhisper(config, Resources(store, words=("ill disposed",))).transcribe(audio).text
    told["taught words"] = "ok" if "ill disposed" in taught.replace("-", " ") else taught
    silence = plain.transcribe(np.zeros(16_000, dtype=np.float32)).text
    told["silence"] = silence or "ok"
    told["stop"] = plain.transcribe(audio, stop=lambda: True).text or "ok"
    try:
        MlxWhisper(MlxWhisperConfig(model=str(folder)), Resources(store))
    except SttError:
        told["no model"] = "ok"
    others: list[str] = []
    for _ in range(2):
        other = threading.Thread(target=lambda: others.append(plain.transcribe(audio).text))
        other.start()
        other.join()
    told["threads that end"] = "ok" if others == [heard.text] * 2 else str(others)
    plain.close()
    plain.close()
    try:
        plain.transcribe(audio)
    except RuntimeError:
        told["closed"] = "ok"
    return told


print(json.dumps(main(Path(sys.argv[1]))))
