"""The command line: what is called with what, and one clear line for what goes wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import yaml

from s2s import __version__
from s2s.app import cli, commands, talk, transcription
from s2s.config import loader as config
from s2s.config import registry, typed
from s2s.core.audio import write_wav
from s2s.models import store
from s2s.stt.base import Transcription
from s2s.transport import local
from s2s.transport.base import DeviceError
from s2s.tts.base import AudioChunk, Capabilities

ROOT = Path(__file__).parents[2]
REAL_HOME = store.home()


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("S2S_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("S2S_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


class Voice:
    """Says a tone a word."""

    capabilities = Capabilities(16_000, True, ("en",))

    def synthesize(self, text: str, **_: object):
        for _word in text.split():
            yield AudioChunk(np.full(1600, 0.25, dtype=np.float32))

    def close(self) -> None: ...


class Ear:
    """Hears how long a recording is."""

    def transcribe(self, audio: np.ndarray, **_: object) -> Transcription:
        return Transcription(f"{len(audio)} samples")

    def close(self) -> None: ...


class Attentive:
    """Takes everything for speech."""

    def open(self) -> Attentive:
        return self

    def probability(self, block: np.ndarray) -> float:
        return 1.0

    def reset(self) -> None: ...


@pytest.fixture
def backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "create_synthesizer", lambda *_: Voice())
    monkeypatch.setattr(registry, "create_transcriber", lambda *_: Ear())
    monkeypatch.setattr(transcription, "open_vad", lambda *_: Attentive())


def test_python_m_s2s_says_its_version():
    result = subprocess.run(
        [sys.executable, "-m", "s2s", "--version"], cwd=ROOT, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout.strip()) == (0, f"s2s {__version__}")


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
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
        (["models", "pull", "smolm2-135m"], 1, "Did you mean smollm2-135m?"),
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

    monkeypatch.setattr(commands, "devices", interrupted)
    assert cli.main(["devices"]) == 130


def test_talk_is_what_happens_without_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    calls: list[tuple[config.Config, dict[str, object]]] = []

    def run_talk(made: config.Config, store: object, **options: object) -> int:
        calls.append((made, options))
        return 0

    monkeypatch.setattr(talk, "run_talk", run_talk)
    arguments = ["--input", "a.wav", "--output", "b.wav", "--fast", "--metrics", "m.jsonl"]
    assert cli.main([*arguments, "--session.language", "de", "--input-device", "Mic"]) == 0
    made, options = calls[0]
    assert options == {
        "input_file": Path("a.wav"),
        "output_file": Path("b.wav"),
        "fast": True,
        "metrics_file": Path("m.jsonl"),
    }
    assert made.session.language == "de"
    assert made.audio.input_device == "Mic"


def test_the_environment_may_name_profile_and_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "mine.yaml"
    file.write_text("session: {history_turns: 3}", encoding="utf-8")
    monkeypatch.setenv("S2S_CONFIG", str(file))
    monkeypatch.setenv("S2S_PROFILE", "embedded")
    assert cli.main(["config"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["session"]["history_turns"] == 3


def test_config_prints_what_config_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["config", "--session.history_turns=5"]) == 0
    printed = capsys.readouterr().out
    read = config.from_tree(typed.tree(yaml.safe_load(printed), "printed"))
    assert read.session.history_turns == 5
    assert read == config.load(environment={}, flags=[("--set", "session.history_turns", "5")])
    assert "# When the person's turn begins and ends." in printed


def test_every_shortcut_names_a_setting():
    qwen3 = typed.field_types(registry.config_class(registry.find("tts", "qwen3")))
    assert {key.partition(".")[2] for key, _ in cli.VOICE_SHORTCUTS.values()} <= set(qwen3)
    for flag, (key, text) in cli.SHORTCUTS.items():
        assert text
        section, name = key.split(".")
        known = typed.field_types(config.sections()[section])
        options = typed.field_types(registry.config_class(registry.find("tts", "hibari")))
        assert name in known or (section == "tts" and name in options), flag


def test_flags_of_talk_shut_the_microphone():
    def input_of(*flags: str) -> tuple[bool, bool, str | None]:
        options = cli.parse(flags)
        made = cli.settings(options)
        given = made.session.turns.input
        return given.push_to_talk, given.muted, made.models.wake_word

    assert input_of() == (False, False, None)
    assert input_of("--push-to-talk") == (True, False, None)
    assert input_of("talk", "--muted", "--wake-word", "alexa") == (False, True, "alexa")


@pytest.mark.usefixtures("backends")
def test_say_writes_a_wav_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    target = tmp_path / "out.wav"
    assert cli.main(["say", "one two three", "-o", str(target)]) == 0
    assert "0.30 s at 16000 Hz" in capsys.readouterr().out
    assert target.stat().st_size == 44 + 2 * 4800


@pytest.mark.parametrize(
    ("text", "languages", "heard", "options"),
    [
        ("it costs 5 €", ("en",), ("it costs five euros", "en"), []),
        ("**Total:** $12.75 at 8:05.", ("en",), None, []),
        ("<think>hm. so</think>Yes.", ("en",), ("Yes.", "en"), []),
        ("Das ist nicht die Antwort, 5 €.", ("en", "de"), None, []),
        ("42", ("en", "de"), None, ["--session.language=de"]),
        ("42", ("en", "de"), ("forty-two", "en"), []),
    ],
)
def test_say_reads_a_text_as_a_conversation_does(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    languages: tuple[str, ...],
    heard: tuple[str, str] | None,
    options: list[str],
):
    asked: list[tuple[str, object]] = []

    class Written(Voice):
        capabilities = Capabilities(16_000, True, languages)

        def synthesize(self, text: str, **how: object):
            asked.append((text, how["language"]))
            yield from super().synthesize(text)

    monkeypatch.setattr(registry, "create_synthesizer", lambda *_: Written())
    assert cli.main(["say", text, "-o", str(tmp_path / "out.wav"), *options]) == 0
    [(spoken, language)] = asked
    assert not set(spoken) & set("*$€<>")
    assert "think" not in spoken
    assert language == ("de" if options or "Das" in text else "en")
    if heard is not None:
        assert (spoken, language) == heard


@pytest.mark.usefixtures("backends")
def test_say_plays_block_by_block(monkeypatch: pytest.MonkeyPatch):
    written: list[tuple[int, ...]] = []

    class OutputStream:
        def __init__(self, **options: object) -> None:
            assert options["samplerate"] == 16_000

        def __enter__(self):
            return self

        def __exit__(self, *_: object) -> None: ...

        def write(self, block: np.ndarray) -> None:
            written.append(block.shape)

    monkeypatch.setattr(
        commands, "portaudio", lambda: types.SimpleNamespace(OutputStream=OutputStream)
    )
    assert cli.main(["say", "one two"]) == 0
    assert written == [(1600, 1), (1600, 1)]


@pytest.mark.usefixtures("backends")
def test_a_text_without_words_is_a_failure_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["say", " ", "-o", str(tmp_path / "out.wav")]) == 1
    assert "nothing to say" in capsys.readouterr().err


@pytest.mark.usefixtures("backends")
def test_transcribe_resamples_and_prints_a_line_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    files = []
    for rate_hz in (8_000, 16_000, 44_100):
        files.append(tmp_path / f"{rate_hz}.wav")
        write_wav(files[-1], np.zeros(rate_hz, dtype=np.float32), rate_hz)
    assert cli.main(["transcribe", *map(str, files)]) == 0
    assert capsys.readouterr().out.split() == ["16000", "samples"] * 3


def test_devices_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    found = [
        local.Device(0, "Mic", 2, 0, 48_000, True, False),
        local.Device(1, "Box", 0, 2, 44_100, False, True),
    ]
    monkeypatch.setattr(commands, "list_devices", lambda: found)
    assert cli.main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["0", "Mic", "2", "default", "0", "48000", "Hz"],
        ["1", "Box", "0", "2", "default", "44100", "Hz"],
    ]


def test_no_devices_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def missing() -> list[local.Device]:
        raise DeviceError("PortAudio is missing: install it")

    monkeypatch.setattr(commands, "list_devices", missing)
    assert cli.main(["devices"]) == 1
    assert "PortAudio is missing" in capsys.readouterr().err
    monkeypatch.setattr(commands, "list_devices", list)
    assert cli.main(["devices"]) == 1
    assert "no sound device" in capsys.readouterr().err


def test_models_are_listed_with_state_and_licence(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["models", "list"]) == 0
    rows = capsys.readouterr().out.splitlines()
    row = next(row for row in rows if row.startswith("silero-vad"))
    assert "missing" in row
    assert "MIT" in row
    assert "2.8 MB" in row


def test_models_pull_without_names_is_what_the_config_needs(monkeypatch: pytest.MonkeyPatch):
    pulled: list[str] = []

    def pull(store: object, wanted: tuple[object, ...]) -> int:
        pulled.extend(model.name for model in wanted)  # type: ignore[attr-defined]
        return 0

    monkeypatch.setattr(commands, "models_pull", pull)
    assert cli.main(["models", "pull"]) == 0
    assert set(pulled) == {"silero-vad", "smart-turn-v3", "moonshine-tiny-en", "smollm2-135m"}
    pulled.clear()
    assert cli.main(["models", "pull", "embedded"]) == 0
    assert set(pulled) == {"silero-vad", "smart-turn-v3", "moonshine-tiny-en", "smollm2-135m"}


def test_there_is_no_voice_on_a_new_machine(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["voices", "list"]) == 0
    assert "no voice yet" in capsys.readouterr().out


@pytest.mark.models("piper-joe")
def test_a_piper_voice_is_listed_cut_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    source = store.Store(REAL_HOME).path("piper-joe")
    folder = tmp_path / "home" / "models" / "joe"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.split-*"))
    monkeypatch.setenv("S2S_HOME", str(tmp_path / "home"))
    voice = str(folder / "en_US-joe-medium.onnx")
    assert cli.main(["voices", "split", voice]) == 0
    assert "decodes in" in capsys.readouterr().out
    assert cli.main(["voices", "verify", voice]) == 0
    assert capsys.readouterr().out.count("pass  ") == 3
    assert cli.main(["voices", "list"]) == 0
    assert f"--tts piper --tts.model {voice}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "model"),
    [
        (["--stt", "faster-whisper"], "whisper-base"),
        (["--stt", "faster-whisper", "--stt.model", "tiny.en"], "whisper-tiny.en"),
        (["--tts", "piper"], "piper-joe"),
    ],
)
def test_the_models_a_config_needs_follow_its_backends(flags: list[str], model: str):
    options = cli.parse(["models", "pull", *flags])
    try:
        made = cli.settings(options)
    except registry.RegistryError as error:
        pytest.skip(str(error))
    names = {found.name for found in commands.needed_models(made, store.Store())}
    assert model in names
    assert "smollm2-135m" in names
    assert len(names) == 5 - ("--stt" in flags)


def test_a_quant_is_taken_in_any_case(capsys: pytest.CaptureFixture[str]):
    flags = ["--tts", "qwen3", "--quant", "Q8_0", "--model", "1.7b", "--instruct", "Whisper."]
    assert cli.main(["config", *flags]) == 0
    options = yaml.safe_load(capsys.readouterr().out)["tts"]["options"]
    assert (options["quant"], options["model"]) == ("q8_0", "1.7b")
    assert options["instruct"] == "Whisper."


def test_a_small_model_is_converted_once(tiny_qwen3, capsys: pytest.CaptureFixture[str]):
    folder = str(tiny_qwen3("0.6b-customvoice"))
    assert cli.main(["models", "convert", folder, "--quant", "f32"]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert (made / "converted.json").is_file()
    assert cli.main(["models", "convert", str(made), "--quant", "f32"]) == 0
    assert Path(capsys.readouterr().out.strip()) == made
    assert cli.main(["models", "convert", folder, "--quant", "q3"]) == 1
    assert "unknown quant 'q3'; known: f32, bf16" in capsys.readouterr().err
