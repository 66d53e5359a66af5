"""Which models of the manifest a configuration needs."""

from __future__ import annotations

from collections.abc import Collection

from s2s.config import registry, typed
from s2s.config.schema import Config, LanguageVoiceConfig, LlmConfig, SttConfig, TtsConfig
from s2s.core.untyped import is_mapping
from s2s.models.manifest import Model
from s2s.models.store import Store

_Choice = SttConfig | LlmConfig | TtsConfig | LanguageVoiceConfig
"""Sections that name a backend and its options."""


def needed_models(
    config: Config, store: Store, without: Collection[registry.StageName] = ()
) -> tuple[Model, ...]:
    """The models of the manifest that a session with this config loads. without: stages whose
    models other processes have."""
    known = {model.name for model in store.models}
    wanted = {config.models.vad, config.models.end_of_turn or ""} & known
    chosen: list[tuple[registry.StageName, _Choice]] = [
        ("stt", config.stt), ("llm", config.llm), ("tts", config.tts)
    ]  # fmt: skip
    chosen.extend(("tts", voice) for voice in config.tts.by_language.values() if voice.backend)
    if config.tts.spare is not None:
        chosen.append(("tts", LanguageVoiceConfig(config.tts.spare)))
    for stage, section in chosen:
        if stage in without:
            continue
        backend = registry.find(stage, section.backend)
        options = typed.plain(section.options)
        values = options.values() if is_mapping(options) else ()
        texts = [value for value in values if isinstance(value, str)]
        wanted |= {name for text in texts for name in (text, backend.model_prefix + text)} & known
    return store.select(sorted(wanted))
