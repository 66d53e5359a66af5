"""The help of every command and action ends with an example that the program takes."""

from __future__ import annotations

import shlex

import pytest

from s2s.app import cli
from s2s.app.examples import EXAMPLES
from s2s.app.parser_tables import parsers

pytestmark = pytest.mark.usefixtures("clean_environment")

PATHS = [" ".join(path) for path, _ in parsers(cli.whole_parser())]


@pytest.mark.parametrize("path", PATHS)
def test_the_help_shows_an_example(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([*path.split(), "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "\nexample" in shown, f"s2s/app/examples.py has none for {path}"
    for line in EXAMPLES[path]:
        assert f"\n  {line}" in shown


@pytest.mark.parametrize(
    ("path", "line"), [(path, line) for path in EXAMPLES for line in EXAMPLES[path]]
)
def test_the_program_takes_each_example(path: str, line: str) -> None:
    words = shlex.split(line.split(" > ")[0])
    assert words[:3] == ["python", "-m", "s2s"]
    options = cli.parse(words[3:])
    first, _, action = path.partition(" ")
    assert options.command == (first or "talk")
    assert not action or options.action == action


def test_no_example_is_of_a_command_that_there_is_not() -> None:
    assert set(EXAMPLES) == set(PATHS)
