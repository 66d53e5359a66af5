"""What the server says that it can do."""

from __future__ import annotations

from collections.abc import Iterable

from wyoming.info import (
    AsrModel,
    AsrProgram,
    Attribution,
    HandleModel,
    HandleProgram,
    Info,
    TtsProgram,
    TtsVoice,
    WakeModel,
    WakeProgram,
)

from s2s import __version__
from s2s.transport.wyoming.services import WyomingServices
from s2s.transport.wyoming.speaking import DEFAULT_VOICE

PROGRAM = "s2s"
"""The name of each service: there is one of a kind."""
SELF = Attribution("s2s", "")


def described(services: WyomingServices) -> Info:
    """The answer to `describe`."""
    return Info(
        asr=[_asr(services)],
        tts=[_tts(services)],
        handle=[_handle(services)],
        wake=[wake_program(services.wake_words)] if services.wake_words else [],
    )


def _asr(services: WyomingServices) -> AsrProgram:
    languages = list(services.stt_languages)
    model = AsrModel(
        name=services.stt_name,
        attribution=SELF,
        installed=True,
        description=services.stt_name,
        version=None,
        languages=languages,
    )
    return AsrProgram(
        name=PROGRAM,
        attribution=SELF,
        installed=True,
        description="Speech to text of s2s",
        version=__version__,
        models=[model],
        supports_transcript_streaming=True,
    )


def _tts(services: WyomingServices) -> TtsProgram:
    capabilities = services.synthesizer.capabilities
    languages = list(capabilities.languages) or [services.language or "en"]
    voices = [
        TtsVoice(
            name=name,
            attribution=SELF,
            installed=True,
            description=f"{services.tts_name}: {name}",
            version=None,
            languages=languages,
        )
        for name in capabilities.voices or (DEFAULT_VOICE,)
    ]
    return TtsProgram(
        name=PROGRAM,
        attribution=SELF,
        installed=True,
        description="Text to speech of s2s",
        version=__version__,
        voices=voices,
        supports_synthesize_streaming=True,
    )


def _handle(services: WyomingServices) -> HandleProgram:
    model = HandleModel(
        name=services.llm_name,
        attribution=SELF,
        installed=True,
        description=services.llm_name,
        version=None,
        languages=[],  # which is every language: a language model names none
    )
    return HandleProgram(
        name=PROGRAM,
        attribution=SELF,
        installed=True,
        description="Answers of s2s's language model",
        version=__version__,
        models=[model],
        supports_handled_streaming=True,
    )


def wake_program(names: Iterable[str]) -> WakeProgram:
    """These wake words."""
    models = [
        WakeModel(
            name=name,
            attribution=SELF,
            installed=True,
            description=name.replace("_", " "),
            version=None,
            languages=["en"],
            phrase=name.replace("_", " "),
        )
        for name in names
    ]
    return WakeProgram(
        name=PROGRAM,
        attribution=SELF,
        installed=True,
        description="Wake words of s2s",
        version=__version__,
        models=models,
    )
