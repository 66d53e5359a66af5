"""MMS voices as a text-to-speech backend: one of a thousand languages each, streamed.

Published without phonemes: a letter is a symbol. Languages whose voices were trained on romanised
text need the package uroman.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingImports=false
# pyright: reportUnknownArgumentType=false
# The package uroman has no types, and need not be installed.
from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from s2s.config.language_codes import LONG_CODES
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.models.store import Store, StoreError
from s2s.tts.backends.by_language import ByLanguage
from s2s.tts.backends.mms.convert import converted
from s2s.tts.backends.mms.languages import folder_of
from s2s.tts.backends.vits_chunks import usual_cost, vits_chunks
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.vits import Manner, VitsError, VitsVoice, load_voice

HUB = "hf://willwade/mms-tts-multilingual-models-onnx"
"""sherpa-onnx's export of every language, a folder each."""


@dataclass(frozen=True, slots=True)
class MmsConfig:
    """Options of MMS."""

    language: str = setting(
        "en",
        "What is spoken first: de, deu, de-DE or German; also read as tts_language. ISO 639-3 "
        "where there is no shorter code.",
    )
    languages: tuple[str, ...] = setting(
        (), "Others that may be spoken; they are loaded while the first one already speaks."
    )
    load_heard: bool = setting(
        True,
        "A language that is in neither of them is loaded once it was heard in two turns, or an "
        "answer is written in it, while the voice before it goes on.",
    )
    model: str = setting(
        HUB,
        "A folder or hub address with a folder a language (deu/model.onnx, deu/tokens.txt), or the "
        "folder of one voice.",
    )
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")
    noise_scale: float = setting(0.667, "Variation of the sound.")
    noise_w: float = setting(0.8, "Variation of the rhythm.")
    seed: int | None = setting(
        None, "The same text then always gives the same samples; None varies, as people do."
    )

    def __post_init__(self) -> None:
        if not 0.5 <= self.speed <= 2.0:
            raise ValueError(f"speed must be from 0.5 to 2, got {self.speed}")


class Mms:
    """Speaks each language with its voice. Calls may come from several threads."""

    def __init__(self, config: MmsConfig, resources: Resources) -> None:
        """Load the first language; the first time a voice is also cut and checked.

        Raises:
            TtsError: the voice of the first language can't be had or used.
        """
        self._config = config
        self._cost = usual_cost()
        store, threads = resources.store, resources.threads
        self._voices = ByLanguage(
            (config.language, *config.languages), lambda code: _load(config, code, store, threads)
        )
        self._rate_hz = self._voices.get(None).sample_rate_hz
        self._folder = None if config.model.startswith("hf://") else store.path(config.model)

    @property
    def capabilities(self) -> Capabilities:
        streams = self._voices.get(None).streams
        return Capabilities(
            sample_rate_hz=self._rate_hz,
            streaming=streams,
            languages=self._voices.codes,
            word_timing=streams,
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`. A language that is still being
        loaded is waited for."""
        del voice
        code = language or self._config.language
        loaded = self._voices.get(code)
        written = Written(text, loaded.config.ids, code)
        if not any(letter.isalnum() for letter in written.text):
            return
        gain_db = self._config.volume_db
        try:
            for chunk in vits_chunks(loaded, written.text, self._manner(), stop, self._cost):
                samples = amplify(chunk.samples, gain_db) if gain_db else chunk.samples
                spoken = chunk.spoken_chars
                told = None if spoken is None else written.original(spoken)
                yield replace(chunk, samples=samples, spoken_chars=told)
        except VitsError as error:
            raise TtsError(f"mms: {error}") from error

    def offers(self, language: str) -> bool:
        """See `s2s.tts.base.LanguageLoader`."""
        if language in self._voices.codes or not self._config.load_heard:
            return language in self._voices.codes
        folder = self._folder
        return language in LONG_CODES and (
            folder is None or (folder / folder_of(language)).is_dir()
        )

    def prepare(self, language: str) -> bool:
        """See `s2s.tts.base.LanguageLoader`."""
        return self._voices.prepare(language)

    def warm(self) -> None:
        """Speak a short sentence of the first language, unheard."""
        for _ in self.synthesize("a a."):
            pass

    def close(self) -> None:
        """Free the voices. Idempotent."""
        self._voices.close()

    def _manner(self) -> Manner:
        from s2s.tts.vits import Scales

        config = self._config
        return Manner(
            scales=Scales(config.noise_scale, 1.0 / config.speed, config.noise_w), seed=config.seed
        )


class Written:
    """A text as a voice reads it: as it is, or romanised where the voice knows none of its letters.

    Args:
        text: speakable text.
        known: the voice's symbols.
        code: of the language.

    Raises:
        TtsError: it must be romanised, and uroman is not installed.
    """

    def __init__(self, text: str, known: Collection[str], code: str) -> None:
        letters = {letter for letter in text.lower() if letter.isalpha()}
        self._ends: list[tuple[int, int]] = []
        self.text = text
        if letters and not any(letter in known for letter in letters) and "a" in known:
            self._romanise(text, code)

    def original(self, chars: int) -> int:
        """Characters of the original when so many of `text` have been spoken."""
        if not self._ends:
            return chars
        at = bisect_right(self._ends, (chars, 1 << 60)) - 1
        return self._ends[at][1] if at >= 0 else 0

    def _romanise(self, text: str, code: str) -> None:
        try:
            import uroman
        except ImportError as error:
            raise TtsError(
                f"mms: the voice of {code!r} reads romanised text. Install: pip install uroman "
                "(Apache-2.0)"
            ) from error
        romanise = uroman.Uroman()
        words: list[str] = []
        length = 0
        for match in re.finditer(r"\S+", text):
            word = str(romanise.romanize_string(match[0], lcode=folder_of(code)[:3]))
            words.append(word)
            length += len(word) + (1 if len(words) > 1 else 0)
            self._ends.append((length, match.end()))
        self.text = " ".join(words)


def _load(config: MmsConfig, code: str, store: Store, threads: int) -> VitsVoice:
    try:
        model, tokens = _files(config, code, store)
        folder = converted(model, tokens, code, store.folder("mms"))
        return load_voice(folder / "voice.onnx", threads=1 if threads == 1 else None)
    except (StoreError, VitsError) as error:
        raise TtsError(f"mms: {error}") from error


def _files(config: MmsConfig, code: str, store: Store) -> tuple[Path, Path]:
    """(graph, table of symbols) of a language."""
    name = folder_of(code)
    if config.model.startswith("hf://"):
        base = f"{config.model}/{name}"
        return store.path(f"{base}/model.onnx"), store.path(f"{base}/tokens.txt")
    folder = store.path(config.model)
    own = folder / name
    found = own if own.is_dir() else folder
    if not (found / "model.onnx").is_file() or (found == folder and code != config.language):
        raise TtsError(
            f"mms: {own}: no folder with the voice of {code!r} (model.onnx and tokens.txt)."
        )
    return found / "model.onnx", found / "tokens.txt"
