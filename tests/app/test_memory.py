"""Memory at this machine: where it is, and that `erase` knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.app.keeping.kept import what_there_is
from s2s.app.memory import default_folder, note_memory, with_memory
from s2s.config.schema import Config, MemoryConfig
from s2s.core.events import Event
from s2s.llm.memory.folder import MemoryFolder
from s2s.llm.memory.remembering import RememberingChat
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.testing.simulator import (
    EnergyVad,
    ManualClock,
    ModelCosts,
    ScriptedChat,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
)

pytestmark = pytest.mark.usefixtures("clean_environment")

FREE = ModelCosts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def models() -> Models:
    clock = ManualClock()
    return Models(
        EnergyVad(),
        None,
        ScriptedTranscriber(ScriptWords([]), clock, 0.0),
        ScriptedChat(clock, FREE, str),
        ScriptedSynthesizer(clock, FREE),
    )


def ignore(_: Event) -> None: ...


def test_without_a_folder_there_is_no_memory() -> None:
    loaded = models()
    assert with_memory(Config(), Store(), loaded, ignore) == (loaded, ignore)


def test_with_one_the_model_has_it() -> None:
    config = Config(memory=MemoryConfig(folder=default_folder()))
    made, events = with_memory(config, Store(), models(), ignore)
    assert isinstance(made.chat, RememberingChat)
    assert events is not ignore


def test_the_default_is_with_what_the_program_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_folder() == Store().root / "memory"
    monkeypatch.delenv("S2S_HOME")
    assert default_folder().name == "memory"
    assert "cache" not in str(default_folder()).lower()


def test_of_a_folder_of_ones_own_only_the_assistants_file_is_erased(tmp_path: Path) -> None:
    store = Store()
    for folder in (default_folder(), tmp_path / "notes"):
        memory = MemoryFolder(folder)
        memory.remember("x")
        note_memory(memory, store)
    (tmp_path / "notes" / "mine.md").write_text("- y\n")
    [found] = what_there_is(store.root)
    assert found.what == "memory"
    assert set(found.paths) == {default_folder(), tmp_path / "notes" / "remembered.md"}
