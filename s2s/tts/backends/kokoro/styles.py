"""Kokoro's voices: tables of styles by the length of the text, in the forms they are published in.

An `.npz` (or the `voices-v1.0.bin` that is one) holds many voices, a `.bin` of plain numbers one. A
style is taken by the number of symbols: one row for all shortens the speech.
"""

from __future__ import annotations

import threading
import zipfile
from pathlib import Path

import numpy as np

from s2s.core.arrays import Floats
from s2s.models.store import Store, StoreError
from s2s.tts.backends.kokoro.graph import STYLE
from s2s.tts.backends.kokoro.languages import OFFICIAL
from s2s.tts.base import TtsError

FETCHED = "kokoro-voices"
"""Folder of the store for voices that were fetched one by one."""
HUB = "hf://onnx-community/Kokoro-82M-v1.0-ONNX/voices"
"""Where each official voice is a file of 0.5 MB."""


class Styles:
    """The voices at hand, read when first used. Any thread.

    Args:
        files: voices or packs of voices, or folders with some.
        store: where voices are fetched to.
    """

    def __init__(self, files: list[Path], store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._tables: dict[str, Floats] = {}
        self._files: dict[str, Path] = {}
        for file in [*files, store.root / FETCHED]:
            for path in sorted(file.iterdir()) if file.is_dir() else [file]:
                self._add(path)

    @property
    def names(self) -> tuple[str, ...]:
        """The voices on this machine."""
        with self._lock:
            return tuple(dict.fromkeys((*self._tables, *self._files)))

    def style(self, voice: str, symbols: int) -> Floats:
        """The style of a voice for a text of so many symbols, float32 [1, 256].

        Raises:
            TtsError: no such voice, or it cannot be fetched or read.
        """
        with self._lock:
            if voice not in self._tables:
                self._tables[voice] = read_style(self._file(voice))
            table = self._tables[voice]
        return table[min(max(symbols, 1), len(table)) - 1][None]

    def _file(self, voice: str) -> Path:
        if voice in self._files:
            return self._files[voice]
        if voice not in OFFICIAL:
            here = ", ".join(dict.fromkeys((*self._tables, *self._files)))
            raise TtsError(
                f"kokoro has no voice {voice!r}. Here are: {here}; and by their names those of "
                "Kokoro-82M (af_heart, bf_emma, ff_siwis, ...), which are fetched."
            )
        try:
            fetched = self._store.path(f"{HUB}/{voice}.bin")
        except StoreError as error:
            raise TtsError(
                f"kokoro: the voice {voice!r} is not on this machine: {error} "
                f"A file {voice}.bin in {self._store.root / FETCHED} is found too."
            ) from error
        kept = self._store.folder(FETCHED) / f"{voice}.bin"
        kept.write_bytes(fetched.read_bytes())
        self._files[voice] = kept
        return kept

    def _add(self, path: Path) -> None:
        if path.suffix == ".npz" or (path.suffix == ".bin" and zipfile.is_zipfile(path)):
            self._tables.update(read_pack(path))
        elif path.suffix == ".bin":
            self._files[path.stem] = path


def read_pack(path: Path) -> dict[str, Floats]:
    """The voices of an .npz: name -> float32 [lengths, 256].

    Raises:
        TtsError: damaged, or not voices.
    """
    try:
        with np.load(path, allow_pickle=False) as pack:
            return {name: _table(pack[name], path) for name in pack.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise TtsError(f"kokoro: {path} cannot be read as voices: {error}") from error


def read_style(path: Path) -> Floats:
    """The voice of a .bin: float32 [lengths, 256]. Raises as `read_pack`."""
    try:
        return _table(np.fromfile(path, np.float32), path)
    except (OSError, ValueError) as error:
        raise TtsError(f"kokoro: {path} cannot be read as a voice: {error}") from error


def _table(numbers: Floats, path: Path) -> Floats:
    if not numbers.size or numbers.size % STYLE or not np.isfinite(numbers).all():
        raise TtsError(f"kokoro: {path} holds {numbers.size} numbers, not styles of {STYLE}.")
    return numbers.astype(np.float32, copy=False).reshape(-1, STYLE)
