"""Which files a voice is, by the names that `voices list` shows: what deleting it deletes.

A voice that came with a package or a model is not deleted alone; the error says with what it goes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from s2s.app.keeping.removal import KeptError, Removal
from s2s.config import registry
from s2s.models.store import Store

VOICES_LIST = "`python -m s2s voices list` shows the voices that are here"


def voice_removal(store: Store, name: str) -> Removal:
    """What goes with the voice `name`: as it is listed, or with its backend in front, such as
    `qwen3:anna`.

    Raises:
        KeptError: there is no such voice, several have that name, or it goes only with something
            else.
    """
    backend, colon, plain = name.partition(":")
    if colon and backend in FINDERS:
        wanted = {backend: FINDERS[backend]}
    else:
        wanted, plain = FINDERS, name
    found = {each: removal for each, find in wanted.items() if (removal := find(store, plain))}
    if len(found) > 1:
        choices = ", ".join(f"{each}:{plain}" for each in found)
        raise KeptError(f"{name} is the name of several voices: say which, {choices}")
    for removal in found.values():
        return removal
    for package, voices in _packaged().items():
        if wanted is FINDERS and plain in voices:
            raise KeptError(f"{name} comes with {package}: it is deleted with that, not alone")
    raise KeptError(f"no voice {name} to delete; {VOICES_LIST}")


def _piper(store: Store, name: str) -> Removal | None:
    """By its path, its file's name, or that without its end; with what was cut from it."""
    from s2s.app.voices.piper_voices import installed_voices

    folders = [folder for folder in (store.root / "models", store.root / "hub") if folder.is_dir()]
    for voice in installed_voices(folders):
        path = voice.path
        names = {str(path), path.name, path.stem}
        if path.name == "encoder.onnx":
            names = {str(path), path.parent.name}
        if name in names or Path(name).expanduser() == path:
            cuts = sorted(path.parent.glob(f"{path.name}.split-*"))
            cuts += sorted((store.root / "split").glob(f"{path.name}.split-*"))
            config = path.with_name(f"{path.name}.json")
            decoder = path.with_name("decoder.onnx")
            parts = [path, config, *([decoder] if path.name == "encoder.onnx" else []), *cuts]
            return Removal(name, tuple(part for part in parts if part.exists()), "piper")
    return None


def _qwen3(store: Store, name: str) -> Removal | None:
    """An enrolled one."""
    from s2s.tts.qwen3 import enrolled_voice_path, enrolled_voices

    if name not in {entry.name for entry in enrolled_voices(store.root)}:
        return None
    return Removal(name, (enrolled_voice_path(store.root, name),), "qwen3")


def _kokoro(store: Store, name: str) -> Removal | None:
    """One that was fetched by itself."""
    from s2s.tts.backends.kokoro.styles import FETCHED

    path = store.root / FETCHED / f"{name}.bin"
    return Removal(name, (path,), "kokoro") if Path(name).name == name and path.is_file() else None


def _mms(store: Store, name: str) -> Removal | None:
    """A language that was made ready."""
    made = [path for path in (store.root / "mms").glob("*-*") if path.name.split("-")[0] == name]
    return Removal(name, tuple(sorted(made)), "mms") if made else None


FINDERS: dict[str, Callable[[Store, str], Removal | None]] = {
    "piper": _piper,
    "qwen3": _qwen3,
    "kokoro": _kokoro,
    "mms": _mms,
}
"""Backends that keep a file for each voice."""
WITHOUT_FILES = ("hibari", "pocket", "chattts", "mlx-audio", "openai")
"""Those whose voices come with a package, a model or a server. All others are in `FINDERS`."""


def _packaged() -> dict[str, set[str]]:
    """What comes with something else: its name -> its voices."""
    found: dict[str, set[str]] = {}
    backends = {each.name: each for each in registry.backends("tts")}
    if not registry.missing(backends["hibari"]):
        from s2s.app.voices.listed import hibari_names

        found["the package hibari"] = hibari_names()
    from s2s.tts.backends.kokoro.languages import OFFICIAL
    from s2s.tts.backends.pocket import VOICES
    from s2s.tts.qwen3 import PUBLISHED_SPEAKERS

    found["the model kokoro-82m (models rm kokoro-82m)"] = set(OFFICIAL)
    found["the model of Pocket TTS"] = set(VOICES)
    found["the models of Qwen3-TTS"] = set(PUBLISHED_SPEAKERS)
    return found
