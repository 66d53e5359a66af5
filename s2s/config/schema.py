"""The sections of a configuration: every setting of a session in one frozen tree.

A setting's default is written once, in the dataclass it belongs to: here, or in the stage's own
(docs/decisions/settings-with-their-code.md).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from s2s.config import typed
from s2s.config.typed import Late
from s2s.core.setting import made_setting, setting

if TYPE_CHECKING:
    from s2s.session.config import SessionConfig
    from s2s.tools.config import ToolsConfig
    from s2s.transport.cluster.config import ClusterConfig
    from s2s.transport.local import LocalConfig
    from s2s.transport.server.config import ServeConfig
    from s2s.transport.wyoming.config import WyomingConfig


@dataclass(frozen=True, slots=True)
class ModelsConfig:
    """Models that every session uses, whatever its backends: names of the model list, or paths."""

    vad: str = setting(
        "silero-vad", "Voice activity; torch: by the package silero-vad, where it is installed."
    )
    end_of_turn: str | None = setting(
        "smart-turn-v3", "Hears whether a pause ends the turn; none: silence alone decides."
    )
    wake_word: str | None = setting(
        None,
        "Nothing counts until this is said: okay_nabu, hey_jarvis, hey_mycroft, alexa, or a "
        "microWakeWord file (.json); none: everything counts.",
    )
    speaker: str = setting("speaker-campplus", "Tells voices apart, where one is enrolled.")


@dataclass(frozen=True, slots=True)
class SttConfig:
    """Who writes down what the person says."""

    backend: str = setting("moonshine", "Name of the backend; its options are `stt.NAME`.")
    threads: int | None = setting(None, "Threads of the backend; none: chosen for this machine.")
    words: tuple[str, ...] = setting(
        (),
        "Names and words it is taught, as they are to be written: Aoife,Mrs. Dashwood. How each "
        "backend learns them: docs/languages.md.",
    )
    options: object = setting(None, "Options of the backend.")


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Who answers."""

    backend: str = setting("llama", "Name of the backend; its options are `llm.NAME`.")
    threads: int | None = setting(None, "Threads of the backend; none: chosen for this machine.")
    options: object = setting(None, "Options of the backend.")


@dataclass(frozen=True, slots=True)
class LanguageVoiceConfig:
    """Who speaks one language."""

    backend: str = setting("", "Name of the backend; empty: that of `tts`, loaded once for both.")
    voice: str | None = setting(None, "One of the backend's voices; none: its own.")
    options: object = setting(None, "Options of the backend.")


@dataclass(frozen=True, slots=True)
class TtsConfig:
    """Who speaks the answer."""

    backend: str = setting("hibari", "Name of the backend; its options are `tts.NAME`.")
    threads: int | None = setting(None, "Threads of the backend; none: chosen for this machine.")
    by_language: Mapping[str, LanguageVoiceConfig] = made_setting(
        dict[str, LanguageVoiceConfig],
        "Who else speaks, by ISO 639-1 code: {de: {backend: piper, options: {model: NAME}}}. The "
        "voice follows the language heard.",
    )
    spare: str | None = setting(
        None,
        "Name of the backend that speaks, with its own voice, while the first cannot: where it is "
        "on a server that does not answer.",
    )
    options: object = setting(None, "Options of the backend.")


StageConfig = SttConfig | LlmConfig | TtsConfig


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """What is remembered from one conversation to the next."""

    folder: Path | None = setting(
        None,
        "A folder of Markdown files: what `talk` is asked to remember, told to the model; none: "
        "nothing is remembered.",
    )
    tokens: int = setting(300, "Of the notes that the model is told, newest first.")


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """What is measured, and where it goes."""

    file: Path | None = setting(None, "One JSON line for every response is added to this file.")


@dataclass(frozen=True, slots=True)
class RecordConfig:
    """Whether conversations are recorded, and where."""

    folder: Path | None = setting(
        None,
        "Each conversation of `talk` and `serve` is recorded in a folder of its own in this one: "
        "both voices, every word, where the time went, the settings; none: nothing is.",
    )


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set."""

    session: SessionConfig = made_setting(
        Late("s2s.session.config:SessionConfig"), "How a conversation behaves."
    )
    models: ModelsConfig = made_setting(ModelsConfig, "Models that every session uses.")
    stt: SttConfig = made_setting(SttConfig, "Who writes down what the person says.")
    llm: LlmConfig = made_setting(LlmConfig, "Who answers.")
    tts: TtsConfig = made_setting(TtsConfig, "Who speaks the answer.")
    tools: ToolsConfig = made_setting(
        Late("s2s.tools.config:ToolsConfig"), "What the assistant may do beside talking."
    )
    audio: LocalConfig = made_setting(
        Late("s2s.transport.local:LocalConfig"), "Microphone and loudspeaker."
    )
    serve: ServeConfig = made_setting(
        Late("s2s.transport.server.config:ServeConfig"), "The server: `s2s serve`."
    )
    cluster: ClusterConfig = made_setting(
        Late("s2s.transport.cluster.config:ClusterConfig"),
        "The server as several processes: `s2s cluster`.",
    )
    wyoming: WyomingConfig = made_setting(
        Late("s2s.transport.wyoming.config:WyomingConfig"), "Home Assistant: `s2s wyoming`."
    )
    memory: MemoryConfig = made_setting(
        MemoryConfig, "What is remembered from one conversation to the next."
    )
    metrics: MetricsConfig = made_setting(MetricsConfig, "What is measured, and where it goes.")
    record: RecordConfig = made_setting(
        RecordConfig, "Whether conversations are recorded, and where."
    )


@functools.cache
def sections() -> Mapping[str, type]:
    """Section name -> its dataclass."""
    return {name: cast(type, kind) for name, kind in typed.field_types(Config).items()}
