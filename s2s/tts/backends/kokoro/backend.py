"""Kokoro-82M as a text-to-speech backend (weights Apache-2.0): cut at clauses by its running cost.

Every call gives 0.3 to 0.4 s of silence before the speech and 0.5 to 0.7 s after it, which is cut.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.audio import Block
from s2s.core.clock import SystemClock
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.models.store import Store, StoreError
from s2s.tts.backends.kokoro.graph import (
    MAX_TOKENS,
    SAMPLE_RATE_HZ,
    KokoroGraph,
    read_vocabulary,
)
from s2s.tts.backends.kokoro.languages import speech_of, voice_for
from s2s.tts.backends.kokoro.phonemes import ToPhonemes, languages_here, phonemes_for
from s2s.tts.backends.kokoro.styles import Styles
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.pieces import pieces
from s2s.tts.running_cost import PieceLength, RunningCost
from s2s.tts.trim import trimmed

_MAX_CHARS = 240
"""Text of one call: under 510 symbols in every language of the model."""
_VOCABULARIES = ("vocab.json", "config.json", "tokenizer.json")
_STANDARD = "kokoro-82m"
_WARM = ("Hello.", "Hello, how are you on this fine day?", "This tells how quick I am.")


@dataclass(frozen=True, slots=True)
class KokoroConfig:
    """Options of Kokoro-82M."""

    model: str = setting(
        _STANDARD,
        "A model of the store, a Kokoro .onnx file of any precision, or a folder with one, its "
        "vocabulary and its voices.",
    )
    voices: tuple[str, ...] = setting(
        (), "Further voices: .npz packs, .bin files, or folders or hub addresses of some."
    )
    voice: str | None = setting(
        None,
        "Who speaks (af_heart, jf_gongitsune, ...); an official voice that is not here is fetched. "
        "None is the first of the language that is here.",
    )
    language: str = setting("en", "ISO 639-1 code that is spoken until another is heard.")
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")

    def __post_init__(self) -> None:
        if not 0.5 <= self.speed <= 2.0:
            raise ValueError(f"speed must be from 0.5 to 2, got {self.speed}")


class Kokoro:
    """Speaks with Kokoro's voices. Calls may come from several threads."""

    def __init__(self, config: KokoroConfig, resources: Resources) -> None:
        """Load the network and the phonemes of the configured language.

        Raises:
            TtsError: a model, a voice or a package that is not to be had.
        """
        self._config = config
        self._threads = resources.threads
        self._lock = threading.Lock()
        self._cost = RunningCost(call_s=0.25, char_s=0.04)
        self._phonemes: dict[tuple[str, bool], ToPhonemes] = {}
        graph, vocabulary, voices = _files(config, resources.store)
        self._graph: KokoroGraph | None = KokoroGraph(graph, vocabulary, resources.threads)
        self._styles = Styles(voices, resources.store)
        if config.voice is not None:
            self._styles.style(config.voice, 1)
        elif not self._styles.names:
            raise TtsError(f"kokoro: no voices beside {graph}. Give some: --set tts.voices=[FILE]")
        self._to_phonemes(config.language, self._who(config.language, None))

    @property
    def capabilities(self) -> Capabilities:
        own = self._config.language
        return Capabilities(
            sample_rate_hz=SAMPLE_RATE_HZ,
            streaming=True,
            languages=(own, *(code for code in languages_here() if code != own)),
            voices=self._styles.names,
            threads=self._threads,
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield one chunk a clause or sentence; see `s2s.tts.base.Synthesizer`.

        A piece starts with at most 40 ms of silence and ends with at most 200. Text without
        anything to say yields nothing.
        """
        graph = self._loaded()
        code = language or self._config.language
        who = self._who(code, voice)
        self._styles.style(who, 1)  # a voice that is not there is an error before any sound
        to_phonemes = self._to_phonemes(code, who)
        length = PieceLength(self._cost, SystemClock().now)
        for piece, end in pieces(text, _MAX_CHARS, wish=length.wish):
            made: list[Block] = []
            for part in symbols_of(to_phonemes(piece)):
                if stop():
                    return
                made.append(self._speak(graph, who, part))
            samples = np.concatenate(made) if made else np.zeros(0, np.float32)
            if len(samples):
                length.made(len(piece), len(samples) / SAMPLE_RATE_HZ)
                yield AudioChunk(samples, spoken_chars=end)

    def warm(self) -> None:
        """Speak three short sentences, unheard: the lexicon is loaded, and what a call takes is
        known when the first answer is cut."""
        for text in _WARM:
            for _ in self.synthesize(text, language=self._config.language):
                pass

    def close(self) -> None:
        """Free the network. Idempotent."""
        with self._lock:
            self._graph = None
            self._phonemes.clear()

    def _speak(self, graph: KokoroGraph, voice: str, symbols: str) -> Block:
        """The sound of one piece without its silence, float32 [samples]."""
        numbers = graph.numbers(symbols)
        if not numbers:
            return np.zeros(0, np.float32)
        style = self._styles.style(voice, len(numbers))
        sound = graph.speak(numbers, style, self._config.speed)
        return trimmed(amplify(sound, self._config.volume_db), SAMPLE_RATE_HZ)

    def _who(self, code: str, voice: str | None) -> str:
        """Who speaks this language."""
        return voice or voice_for(code, self._config.voice, self._styles.names)

    def _to_phonemes(self, code: str, voice: str) -> ToPhonemes:
        british = code == "en" and speech_of(code, voice).letter == "b"
        with self._lock:
            if (code, british) not in self._phonemes:
                self._phonemes[code, british] = phonemes_for(code, british=british)
            return self._phonemes[code, british]

    def _loaded(self) -> KokoroGraph:
        with self._lock:
            if self._graph is None:
                raise TtsError("kokoro was used after it was closed.")
            return self._graph


def symbols_of(phonemes: str) -> Iterator[str]:
    """Phonemes in parts that the model takes, cut at spaces; none where there is nothing to say."""
    while any(symbol.isalpha() for symbol in phonemes):
        if len(phonemes) <= MAX_TOKENS:
            yield phonemes
            return
        at = phonemes.rfind(" ", 1, MAX_TOKENS)
        at = at if at > 0 else MAX_TOKENS
        if any(symbol.isalpha() for symbol in phonemes[:at]):
            yield phonemes[:at]
        phonemes = phonemes[at:].lstrip()


def _files(config: KokoroConfig, store: Store) -> tuple[Path, dict[str, int], list[Path]]:
    """(graph, vocabulary, files or folders of voices) as configured."""
    try:
        path = store.path(config.model)
        voices = [store.path(name) for name in config.voices]
        folder = path if path.is_dir() else path.parent
        graph = _one_graph(path)
        found = [folder / name for name in _VOCABULARIES if (folder / name).is_file()]
        if config.model.startswith("hf://") and not found:
            found = [store.path(f"{_STANDARD}/vocab.json")]
        if not found:
            raise TtsError(f"kokoro: {folder}: no {' or '.join(_VOCABULARIES)} in it.")
    except StoreError as error:
        raise TtsError(f"kokoro: {error}") from error
    beside = [*folder.glob("*.npz"), *folder.glob("voices*.bin"), *folder.glob("voices/")]
    if config.model.startswith("hf://") and not (beside or voices):
        beside = [store.path(f"{_STANDARD}/voices_ja.npz")]
    return graph, read_vocabulary(found[0]), [*voices, *sorted(beside)]


def _one_graph(path: Path) -> Path:
    """The .onnx file meant by a file or a folder."""
    if path.is_file():
        return path
    graphs = sorted({*path.glob("*.onnx"), *path.glob("onnx/*.onnx")})
    if len(graphs) != 1:
        named = ", ".join(graph.name for graph in graphs) or "none"
        raise TtsError(f"kokoro: {path}: expected one .onnx file in it, found {named}.")
    return graphs[0]
