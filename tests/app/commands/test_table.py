"""The table of the commands, and what each module of a command holds."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.commands import table
from s2s.app.commands.table import COMMANDS
from s2s.app.settings import settings

NO_COMMANDS = {"__init__", "table"}


def test_each_command_is_a_module_and_each_module_a_command():
    folder = Path(table.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - NO_COMMANDS
    assert modules == {command.module for command in COMMANDS.values()}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_module_has_what_a_command_needs(name: str):
    command = COMMANDS[name]
    module = command.load()
    assert list(inspect.signature(module.add_flags).parameters) == ["parser", "common"]
    assert list(inspect.signature(module.run).parameters) == ["call"]
    assert hasattr(module, "given_settings") == command.sets
    assert command.about


def test_a_call_has_the_settings_of_its_flags():
    options = cli.parse(["serve", "--port", "8000", "--insecure"])
    serve = COMMANDS["serve"].given_settings(options)
    assert serve == [("--port", "serve.port", "8000"), ("--insecure", "serve.insecure", "true")]
    made = settings(options).serve
    assert (made.port, made.insecure) == (8000, True)
    assert COMMANDS["config"].given_settings(cli.parse(["config"])) == []
