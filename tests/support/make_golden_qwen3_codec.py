"""Golden values of the Qwen3-TTS speech tokenizer and speaker encoder, from the official package.

    python tests/support/make_golden_qwen3_codec.py CHECKPOINTS tests/data/qwen3

runs in the environment of ``make_golden_qwen3.py``, on the same checkpoints. Recordings are those
in tests/data, loaded and resampled the official way.

``codec_decoder.npz``: codes and a one-shot forward over the whole window, as the official chunked
decode is an approximation itself; only some frames of its sound are kept.
``codec_encoder.npz``: codes of recordings, one longer than the window named in Mimi's config.
``speaker_encoder.npz``: log mel spectrum and speaker vectors.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from make_golden_qwen3 import array, load_official

RECORDINGS = Path(__file__).parents[1] / "data"
SPOKEN = {
    "short": ["librivox_0880"],
    "uneven": ["librivox_0870"],
    "long": ["librivox_0870", "librivox_0890", "librivox_0920"],
}
FRAMES = 600
KEPT_FRAMES = [0, 1, 2, 10, 40, 71, 72, 73, 144, 300, 301, 450, 571, 580, 598, 599]
MEL_STEP = 7
RATE_HZ = 24_000


def recording(names: list[str], seconds: float | None = None) -> np.ndarray:
    """The recordings one after the other at 24 kHz, float32 [samples]."""
    librosa = importlib.import_module("librosa")
    paths = [RECORDINGS / f"{name}.wav" for name in names]
    sounds = [librosa.load(path, sr=None, mono=True) for path in paths]
    resampled = [
        librosa.resample(y=sound, orig_sr=rate_hz, target_sr=RATE_HZ) for sound, rate_hz in sounds
    ]
    joined = np.concatenate(resampled).astype(np.float32)
    return joined if seconds is None else joined[: int(seconds * RATE_HZ)]


def decoder(model: Any) -> dict[str, np.ndarray]:
    """Random codes and their sound, from one forward over all frames."""
    codec = model.model.speech_tokenizer.model.decoder
    random = np.random.Generator(np.random.PCG64(5))
    codes = random.integers(0, codec.config.codebook_size, (FRAMES, codec.config.num_quantizers))
    sound = array(codec(torch.from_numpy(codes.T[None]))[0, 0])
    kept = sound.reshape(FRAMES, -1)[KEPT_FRAMES]
    print(f"decoder: standard deviation {sound.std():.3f}, peak {np.abs(sound).max():.3f}")
    return {"codes": codes.astype(np.int16), "kept_frames": np.array(KEPT_FRAMES), "pcm": kept}


def encoder(model: Any) -> dict[str, np.ndarray]:
    """Codes of the recordings, and of one shorter than a frame."""
    tokenizer = model.model.speech_tokenizer
    sounds = {name: recording(parts) for name, parts in SPOKEN.items()}
    sounds["tiny"] = recording(SPOKEN["short"], seconds=0.05)
    found: dict[str, np.ndarray] = {}
    for name, sound in sounds.items():
        (codes,) = tokenizer.encode(sound, sr=RATE_HZ).audio_codes
        found[name] = array(codes).astype(np.int16)
        used = len(np.unique(found[name][:, 0]))
        print(f"encoder: {name} {found[name].shape}, {used} different first codes")
    return found


def speaker(models: dict[str, Any]) -> dict[str, np.ndarray]:
    """The mel spectrum of a recording, every few frames, and the vector of each model."""
    official = importlib.import_module("qwen_tts.core.models.modeling_qwen3_tts")
    sound = recording(SPOKEN["short"])
    mel = official.mel_spectrogram(
        torch.from_numpy(sound)[None], n_fft=1024, num_mels=128, sampling_rate=RATE_HZ,
        hop_size=256, win_size=1024, fmin=0, fmax=12000,
    )  # fmt: skip
    found = {"mel": array(mel[0].T)[::MEL_STEP], "mel_frames": np.array(mel.shape[-1])}
    for kind, model in models.items():
        for name in ("short", "uneven"):
            vector = model.model.extract_speaker_embedding(recording(SPOKEN[name]), RATE_HZ)
            found[f"{kind}/{name}"] = array(vector)
    return found


@torch.inference_mode()
def main() -> None:
    """Command line."""
    checkpoints, out = Path(sys.argv[1]), Path(sys.argv[2])
    torch.set_num_threads(1)
    models = {kind: load_official(checkpoints / kind) for kind in ("0.6b-base", "1.7b-base")}
    model = models["0.6b-base"]
    arrays = {
        "codec_decoder": decoder(model),
        "codec_encoder": encoder(model),
        "speaker_encoder": speaker(models),
    }
    for name, found in arrays.items():
        np.savez_compressed(out / f"{name}.npz", **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
