"""Memory in conversations at this machine: where it is kept, and what a session needs for it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from s2s.config.schema import Config
    from s2s.core.events import EventSink
    from s2s.llm.memory.folder import MemoryFolder
    from s2s.models.store import Store
    from s2s.session.models import Models

KIND = "memory"
"""As `erase` calls it."""


def default_folder() -> Path:
    """Where memory is kept unless a folder is named: with what the program keeps if that has a
    place of its own (`S2S_HOME`), else with the user's data: caches may be cleared."""
    chosen = os.environ.get("S2S_HOME", "")
    if chosen:
        return Path(chosen).expanduser() / KIND
    return platformdirs.user_data_path("s2s", False) / KIND


def note_memory(memory: MemoryFolder, store: Store) -> None:
    """Have `erase` know of a memory: of a folder of one's own, the file alone that the assistant
    writes."""
    from s2s.app.keeping.kept import note_place

    ours = memory.path.resolve() == default_folder().resolve()
    note_place(store.root, KIND, memory.path if ours else memory.own_file)


def with_memory(
    config: Config, store: Store, models: Models, events: EventSink
) -> tuple[Models, EventSink]:
    """The models and what takes a session's events, with a memory where one is configured."""
    from s2s.core.events import to_all
    from s2s.llm.memory.folder import MemoryFolder
    from s2s.llm.memory.remembering import MemoryKeeper, RememberingChat

    if config.memory.folder is None:
        return models, events
    memory = MemoryFolder(config.memory.folder)
    chat = RememberingChat(
        models.chat,
        memory,
        config.session.system_prompt,
        max_tokens=config.memory.tokens,
        spoken=models.synthesizer.capabilities.languages,
    )
    keeper = MemoryKeeper(memory, events, lambda: note_memory(memory, store))
    return replace(models, chat=chat), to_all(events, keeper.on_event)
