"""The command `replay`: a record held again with other settings, and what differs then."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from s2s.app.loading import Threads, create_voice, real_time_factor
from s2s.app.settings import given_flags
from s2s.app.voice_activity import open_vad
from s2s.app.voices.my_voice import own_voice
from s2s.config import registry
from s2s.config.schema import Config
from s2s.config.typed import SettingError
from s2s.llm.base import ChatModel
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.records import files, settings
from s2s.records.folder import SessionRecord, read_record
from s2s.records.replay.differences import as_html, as_text, decisions, rows, summary
from s2s.records.replay.held import PLAYED_HZ, HeldAgain, hold_again
from s2s.records.replay.memory import CallMemory
from s2s.records.replay.models import ChangedStages, OtherModels, models_of
from s2s.records.report.levels import levels, levels_of, step_s_for
from s2s.records.report.page import DrawnTrack, content_of, page, write_page, write_text
from s2s.records.story import Story
from s2s.stt.base import Transcriber
from s2s.tts.base import Synthesizer
from s2s.turns.base import OwnVoice, TurnEnd
from s2s.turns.endpoint import EndOfTurn

T = TypeVar("T")


def report(folder: Path) -> int:
    """Write the page of a record; returns the exit code.

    Raises:
        RecordError: it is none.
    """
    print(write_page(folder))
    return 0


def replay(options: argparse.Namespace, store: Store) -> int:
    """Hold a record again with the settings given, and tell what differs; returns the exit code.

    Raises:
        RecordError: it is none.
        SettingError, RegistryError, StoreError, StageError: other models cannot be.
    """
    if options.profile or options.config:
        raise SettingError(
            "replay begins with the settings of the record: change some with --set, --stt, ..."
        )
    folder: Path = options.folder
    record = read_record(folder)
    then = settings.read(folder / files.SETTINGS)
    config = settings.read(folder / files.SETTINGS, given_flags(options))
    changes = settings.changed(then, config)
    fresh, console = options.answers == "fresh", Console(highlight=False)
    if not fresh and any(key.startswith("llm.") for key in changes):
        console.print("The answers are those of the record: another model needs --answers fresh.")
    memory = CallMemory(record.calls())
    changed = ChangedStages.by(changes)
    with others_for(config, store, fresh=fresh) as others:
        again = hold_again(
            record, config, lambda clock: models_of(record, memory, others, changed, clock)
        )
    same = decisions(record.events) == decisions(again.events)
    path = write_text(free_name(folder), differences_page(record, again, changes, same=same))
    tell(console, record.story, again.story, same=same, path=path)
    return 0


def differences_page(
    record: SessionRecord,
    again: HeldAgain,
    changes: settings.Changes,
    *,
    same: bool,
) -> str:
    """The page of both conversations, one below the other."""
    duration_s = max(record.duration_s, again.duration_s)
    step_s = step_s_for(duration_s)
    person, assistant = levels(record.sound(), step_s)
    story = record.story
    content = content_of(record)
    return page(
        replace(
            content,
            title=f"{content.title}, held again",
            tracks=[
                DrawnTrack("then", story, person, assistant),
                DrawnTrack(
                    "now", again.story, person, levels_of(again.assistant, PLAYED_HZ, step_s)
                ),
            ],
            step_s=step_s,
            duration_s=duration_s,
            sections=as_html(story, again.story, changes, same),
            settings="",
        )
    )


def free_name(folder: Path) -> Path:
    """A name for the page that is not there yet."""
    number = 1
    while (path := folder / f"replay-{number}.html").exists():
        number += 1
    return path


def tell(console: Console, then: Story, now: Story, *, same: bool, path: Path) -> None:
    """Say what differs."""
    table = Table("", "then", "now", box=None)
    for name, old, new in summary(then, now):
        table.add_row(name, old, new)
    console.print(table)
    if same:
        console.print("Every decision is the same.")
    for line in as_text(rows(then, now)):
        console.print(line, markup=False, soft_wrap=True)
    console.print(str(path), markup=False, soft_wrap=True)


@contextmanager
def others_for(config: Config, store: Store, *, fresh: bool) -> Generator[OtherModels]:
    """Real models of `config`, each loaded when it is asked for the first time; closed at the end.

    Args:
        fresh: the language model is asked again.
    """
    threads = Threads.of(config)
    with ExitStack() as stack:

        def transcriber() -> Transcriber:
            resources = Resources(store, threads.stt, words=config.stt.words)
            made = registry.create_transcriber(config.stt.backend, config.stt.options, resources)
            stack.callback(made.close)
            made.warm()
            return made

        def chat() -> ChatModel:
            resources = Resources(store, threads.llm)
            made = registry.create_chat_model(config.llm.backend, config.llm.options, resources)
            stack.callback(made.close)
            return made

        def synthesizer() -> tuple[Synthesizer, float]:
            made = create_voice(config.tts, Resources(store, threads.tts))
            stack.callback(made.close)
            made.warm()
            return made, real_time_factor(made)

        def own() -> OwnVoice:
            found = own_voice(config, store)
            if found is None:
                raise SettingError(
                    "The record listened to one voice, which is not enrolled any more: "
                    "python -m s2s voices me"
                )
            return found

        ending = config.models.end_of_turn
        yield OtherModels(
            open_vad(config.models.vad, store),
            None if ending is None else once(lambda: _end_of_turn(store, ending)),
            once(own),
            once(transcriber),
            once(synthesizer),
            once(chat) if fresh else None,
        )


def once(make: Callable[[], T]) -> Callable[[], T]:
    """The same, made at the first call and given again at later ones."""
    made: list[T] = []

    def get() -> T:
        if not made:
            made.append(make())
        return made[0]

    return get


def _end_of_turn(store: Store, name: str) -> TurnEnd:
    return EndOfTurn(store.path(name))
