"""The voices of every backend that are on this machine, and with which flags they speak.

Nothing is loaded and nothing is fetched for the list.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The package hibari has no types.
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from s2s.config import registry
from s2s.models.store import Store


@dataclass(frozen=True, slots=True)
class VoiceHere:
    """A line of the list."""

    flags: str
    """With which it speaks."""
    about: str


def hibari_names() -> set[str]:
    """The voices that the package hibari has."""
    from hibari.voices import VOICES

    return {str(name) for name in VOICES}


def hibari(store: Store) -> Iterator[VoiceHere]:
    """The package's voices; all but one are fetched at first use."""
    del store
    from hibari.voices import DEFAULT, VOICES

    for name, told in VOICES.items():
        where = "comes with the package" if name == DEFAULT else "fetched at first use"
        accent = "British" if told["british"] else "American"
        yield VoiceHere(f"--tts hibari --voice {name}", f"en, {accent}, {where}")


def piper(store: Store) -> Iterator[VoiceHere]:
    """Every Piper voice below the store."""
    from s2s.app.voices.piper_voices import installed_voices

    folders = [folder for folder in (store.root / "models", store.root / "hub") if folder.is_dir()]
    for found in installed_voices(folders):
        speakers = f", {found.speakers} speakers" if found.speakers > 1 else ""
        cut = "" if found.split else ", cut at first use"
        about = f"{found.language}, {found.sample_rate_hz} Hz{speakers}{cut}"
        yield VoiceHere(f"--tts piper --tts.model {found.path}", about)


def kokoro(store: Store) -> Iterator[VoiceHere]:
    """Those that came with the model or were fetched, and how many more have a name."""
    from s2s.tts.backends.kokoro.languages import OFFICIAL, SPEECHES
    from s2s.tts.backends.kokoro.styles import Styles

    folder = store.root / "models" / "kokoro-82m"
    here = Styles(sorted(folder.glob("*.npz")), store).names
    languages = {speech.letter: speech.code for speech in SPEECHES}
    for name in here:
        language = languages.get(name[:1], "any language")
        yield VoiceHere(f"--tts kokoro --voice {name}", f"{language}, 24000 Hz")
    more = sorted(OFFICIAL - set(here))
    if more:
        yield VoiceHere(
            "--tts kokoro --voice NAME", f"{len(more)} more, fetched: {', '.join(more[:3])}, ..."
        )


def mms(store: Store) -> Iterator[VoiceHere]:
    """Every language that was made ready, and where there are others."""
    from s2s.tts.backends.mms.backend import HUB

    for folder in sorted({path.name.split("-")[0] for path in (store.root / "mms").glob("*-*")}):
        yield VoiceHere(f"--tts mms --tts.language {folder}", f"{folder}, 16000 Hz")
    yield VoiceHere("--tts mms --tts.language CODE", f"fetched: a thousand languages of {HUB}")


def pocket(store: Store) -> Iterator[VoiceHere]:
    """The published voices; any recording is one more."""
    del store
    from s2s.tts.backends.pocket import MODELS, VOICES

    told = f"fetched; languages {', '.join(MODELS)}"
    for name in VOICES:
        yield VoiceHere(f"--tts pocket --voice {name}", told)
    yield VoiceHere("--tts pocket --tts.voice FILE", "whoever is heard in the recording")


def chattts(store: Store) -> Iterator[VoiceHere]:
    """Every number is a speaker."""
    del store
    yield VoiceHere("--tts chattts --tts.voice NUMBER", "a speaker by the seed: en, zh")


def mlx_audio(store: Store) -> Iterator[VoiceHere]:
    """Its models have their voices."""
    del store
    yield VoiceHere("--tts mlx-audio --tts.model HUB_ID --voice NAME", "whatever that model has")


def qwen3(store: Store) -> Iterator[VoiceHere]:
    """Every enrolled voice."""
    from s2s.tts.qwen3 import enrolled_voices

    for entry in enrolled_voices(store.root):
        way = "with its words" if entry.in_context else "by its timbre"
        about = entry.problem or f"made with {entry.model} from {entry.seconds:.1f} s, {way}"
        yield VoiceHere(f"--tts qwen3 --voice '{entry.name}'", about)
    yield VoiceHere("--tts qwen3 --voice NAME", "the trained speakers: aiden, ryan, vivian, ...")


def openai(store: Store) -> Iterator[VoiceHere]:
    """What a server has, only it knows."""
    del store
    yield VoiceHere("--tts openai --voice NAME", "whatever the server at tts.base_url has")


LISTED: dict[str, Callable[[Store], Iterator[VoiceHere]]] = {
    "hibari": hibari,
    "piper": piper,
    "kokoro": kokoro,
    "mms": mms,
    "pocket": pocket,
    "chattts": chattts,
    "mlx-audio": mlx_audio,
    "qwen3": qwen3,
    "openai": openai,
}
"""Backend -> its voices. Each backend of the registry has an entry."""


def voices_here(store: Store) -> Iterator[tuple[str, VoiceHere]]:
    """(backend, voice) of every backend whose packages are installed. A Piper voice, which needs
    none for its list, is told all the same."""
    for backend in registry.backends("tts"):
        if backend.name == "piper" or not registry.missing(backend):
            for voice in LISTED[backend.name](store):
                yield backend.name, voice
