"""Completion of the command line: the scripts hold what the parser takes, and shells take them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.commands.table import COMMANDS
from s2s.app.completion import SHELLS, Completions, Shell, completions, script
from s2s.app.parser_tables import parsers, taken_flags
from s2s.models.store import Store

pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture(scope="module")
def found() -> Completions:
    return completions(cli.whole_parser(), Store())


@pytest.fixture(scope="module")
def bash_script(found: Completions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "s2s.bash"
    path.write_text(script("bash", found), encoding="utf-8")
    return path


def test_every_flag_of_every_command_is_offered(found: Completions) -> None:
    for path, parser in parsers(cli.whole_parser()):
        place = found.places["".join(f"/{name}" for name in path)]
        offered = {name for flag in place.flags for name in flag.names}
        taken = {name for flag in taken_flags(parser) for name in flag.names}
        assert taken <= offered, path


def test_settings_are_offered_with_the_options_of_every_backend(found: Completions) -> None:
    assert {"--session.language", "--tts.voice", "--llm.base_url", "--audio.echo"} <= set(
        found.settings
    )
    assert not [key for key in found.settings if ".options" in key]
    assert len(set(found.settings)) == len(found.settings)


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_names_every_command(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert name in shown
    assert "%(default)s" not in shown


CASES: list[tuple[list[str], set[str], set[str]]] = [
    ([""], {"talk", "models", "--version", "--type"}, {"rm"}),
    (["mod"], {"models"}, {"talk"}),
    (["models", ""], {"rm", "pull"}, {"talk"}),
    (["models", "rm", "silero"], {"silero-vad"}, {"--yes"}),
    (["models", "rm", "--y"], {"--yes"}, {"silero-vad"}),
    (["--profile", "pip"], {"piper"}, {"--profile"}),
    (["say", "--tts", ""], {"hibari", "qwen3"}, {"faster-whisper"}),
    (["erase", "--only", "voicep"], {"voiceprint"}, {"voices"}),
    (["talk", "--session.lang"], {"--session.language"}, {"--tts.voice"}),
    (["completion", ""], {"bash", "zsh", "fish"}, set()),
    (["talk", "--input", "some"], {"something.wav"}, {"--fast"}),
    (["transcribe", "some"], {"something.wav"}, set()),
]
"""What was typed, what must be offered, what must not."""


@pytest.mark.parametrize(("typed", "offered", "not_offered"), CASES)
def test_bash_offers_what_can_be_typed(
    bash_script: Path, tmp_path: Path, typed: list[str], offered: set[str], not_offered: set[str]
) -> None:
    (tmp_path / "something.wav").touch()
    words = " ".join(f"'{word}'" for word in ["s2s", *typed])
    asks = (
        f"source {bash_script}; compopt() {{ :; }}; COMP_WORDS=({words}); "
        f'COMP_CWORD={len(typed)}; _s2s; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", asks], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    shown = set(done.stdout.split())
    assert offered <= shown
    assert not not_offered & shown


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_takes_its_script(shell: Shell, found: Completions, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "completion"
    path.write_text(script(shell, found), encoding="utf-8")
    done = subprocess.run([program, "-n", path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
