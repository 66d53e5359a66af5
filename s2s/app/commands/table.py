"""Which commands there are: a row each, with the module that has its flags and its work.

That module is imported when its command is given, not before: `s2s --help` waits for none. A new
command is a module here with `add_flags` and `run`, and a row in `COMMANDS`.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from s2s.config.schema import Config
    from s2s.models.store import Store


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it was given."""

    options: argparse.Namespace
    """Its arguments by their names."""
    store: Store
    """The models, with bars for what is fetched."""
    settings: Callable[[argparse.Namespace], Config]

    def config(self) -> Config:
        """The settings of all layers, those of the command line over all others.

        Raises:
            SettingError: one that there is not, or of a wrong kind.
        """
        return self.settings(self.options)


class CommandModule(Protocol):
    """What the module of a command holds."""

    def add_flags(
        self, parser: argparse.ArgumentParser, common: argparse.ArgumentParser, /
    ) -> None:
        """Describe its arguments.

        Args:
            parser: that of the command; it has the flags that all commands share.
            common: the flags that all commands share, for the parsers of its actions.
        """
        ...

    def run(self, call: Invocation, /) -> int:
        """Do it; returns the exit code. What goes wrong is raised, and told by `cli.main`."""
        ...


class SettingModule(CommandModule, Protocol):
    """The module of a command with flags of its own that change settings."""

    def given_settings(self, options: argparse.Namespace, /) -> list[tuple[str, str, str]]:
        """(flag, key, value) of each that was given."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table."""

    about: str
    """For the help."""
    module: str
    """Its module in this folder."""
    speaks: bool = False
    """It has the flags of a voice."""
    sets: bool = False
    """Its module is a `SettingModule`."""

    def load(self) -> CommandModule:
        """Its module, imported."""
        return cast(CommandModule, importlib.import_module(f"s2s.app.commands.{self.module}"))

    def given_settings(self, options: argparse.Namespace) -> list[tuple[str, str, str]]:
        """(flag, key, value) of each setting that a flag of its own has changed."""
        return cast(SettingModule, self.load()).given_settings(options) if self.sets else []


COMMANDS = {
    "talk": Command("talk to it (what happens without a command)", "talk", speaks=True, sets=True),
    "say": Command("speak a text", "say", speaks=True),
    "serve": Command(
        "serve conversations: a web page, and the OpenAI Realtime API",
        "serve",
        speaks=True,
        sets=True,
    ),
    "cluster": Command(
        "serve as several processes, on one machine or many: Ray Serve",
        "cluster",
        speaks=True,
        sets=True,
    ),
    "wyoming": Command(
        "serve Home Assistant: the Wyoming protocol", "wyoming", speaks=True, sets=True
    ),
    "replay": Command(
        "show a recorded conversation, or hold it again with other settings", "replay", speaks=True
    ),
    "transcribe": Command("write down what is said in sound files", "transcribe"),
    "devices": Command("list microphones and loudspeakers", "devices"),
    "models": Command("list, fetch, find and delete model files", "models"),
    "voices": Command("list, add, delete, cut and check voices", "voices"),
    "memory": Command(
        "show and erase what the assistant was asked to remember", "memory", sets=True
    ),
    "erase": Command("tell what the program keeps on this machine, and delete it", "erase"),
    "bench": Command("measure conversations and speech cores", "bench"),
    "config": Command("print every setting with its meaning and value", "config", speaks=True),
    "completion": Command("print a script that completes the command line", "completion"),
    "doctor": Command("check this machine and say what to do", "doctor", speaks=True),
}
