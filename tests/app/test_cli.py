"""The command line: what is called with what, and one clear line for what goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from s2s import __version__
from s2s.app import cli
from s2s.app.commands import devices
from s2s.app.commands.table import COMMANDS
from s2s.config import loader as config
from s2s.config import typed

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_python_m_s2s_says_its_version():
    result = subprocess.run(
        [sys.executable, "-m", "s2s", "--version"], cwd=ROOT, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout.strip()) == (0, f"s2s {__version__}")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"] if command else ["--help"])
    assert ended.value.code == 0
    assert "usage: s2s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["--nonsense"], ["say"], ["models"], ["models", "push"], ["voices"]]
)
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: s2s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--set", "tts.voce=x"], 2, "--set tts.voce: unknown key tts.voce. Did you mean"),
        (["--tts.voce=x"], 2, "Did you mean tts.voice?"),
        (["--tts", "hibarri"], 2, "no tts backend named hibarri"),
        (["--profile", "embeded"], 2, "Did you mean embedded?"),
        (["--config", "none.yaml"], 2, "none.yaml: cannot be read"),
        (["--set", "novalue"], 2, "name a setting as section.key=value"),
        (["transcribe", "none.wav"], 1, "none.wav: no such file"),
        (["voices", "verify", "./none.onnx"], 1, "./none.onnx: no such file"),
        (["voices", "add", "piper:joe"], 1, "piper:joe: a Piper voice is named"),
        (["say", "Hi.", "--speed", "9"], 1, "speed must be from 0.5 to 2"),
        (["say", "Hi.", "--tts", "qwen3", "--model", "0.6b-base"], 1, "voices add NAME"),
        (["say", "Hi.", "--tts", "qwen3", "--voice", "nobody"], 1, "known: aiden, dylan"),
        (["bench", "voice", "--like", "me.wav"], 1, "--like needs a speaker encoder"),
        (["models", "pull", "smolm2-135m"], 1, "Did you mean smollm2-135m or "),
        (["models", "path", "silero-vad"], 1, "HF_HUB_OFFLINE forbids fetching it"),
    ],
)
def test_what_goes_wrong_is_one_line_and_a_code(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(arguments) == code
    shown = capsys.readouterr()
    assert said in shown.err
    assert len(shown.err.strip().splitlines()) == 1
    assert "Traceback" not in shown.err


def test_debug_shows_where_it_went_wrong(capsys: pytest.CaptureFixture[str], caplog):
    assert cli.main(["transcribe", "none.wav", "--log-level", "debug"]) == 1
    assert "none.wav: no such file" in capsys.readouterr().err
    assert any(record.exc_info for record in caplog.records)


def test_ctrl_c_is_no_failure_of_the_program(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(devices, "list_devices", interrupted)
    assert cli.main(["devices"]) == 130


def test_config_prints_what_config_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["config", "--session.history_turns=5"]) == 0
    printed = capsys.readouterr().out
    read = config.from_tree(typed.tree(yaml.safe_load(printed), "printed"))
    assert read.session.history_turns == 5
    assert read == config.load(environment={}, flags=[("--set", "session.history_turns", "5")])
    assert "# When the person's turn begins and ends." in printed


def test_a_quant_is_taken_in_any_case(capsys: pytest.CaptureFixture[str]):
    flags = ["--tts", "qwen3", "--quant", "Q8_0", "--model", "1.7b", "--instruct", "Whisper."]
    assert cli.main(["config", *flags]) == 0
    options = yaml.safe_load(capsys.readouterr().out)["tts"]["options"]
    assert (options["quant"], options["model"]) == ("q8_0", "1.7b")
    assert options["instruct"] == "Whisper."
