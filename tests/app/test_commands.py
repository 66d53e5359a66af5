"""What the commands do: say, devices, models, config."""

from __future__ import annotations

import types
from pathlib import Path

import numpy as np
import pytest
import yaml

from s2s.app import cli, commands
from s2s.config import registry
from s2s.config.loader import as_dict, load
from s2s.config.schema import sections
from s2s.core.setting import documented
from s2s.models import store
from s2s.transport import local
from s2s.transport.base import DeviceError
from s2s.tts.base import Capabilities
from tests.support.program import ToneVoice

pytestmark = pytest.mark.usefixtures("clean_environment")


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

    class Written(ToneVoice):
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


def test_a_small_model_is_converted_once(tiny_qwen3, capsys: pytest.CaptureFixture[str]):
    folder = str(tiny_qwen3("0.6b-customvoice"))
    assert cli.main(["models", "convert", folder, "--quant", "f32"]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert (made / "converted.json").is_file()
    assert cli.main(["models", "convert", str(made), "--quant", "f32"]) == 0
    assert Path(capsys.readouterr().out.strip()) == made
    assert cli.main(["models", "convert", folder, "--quant", "q3"]) == 1
    assert "unknown quant 'q3'; known: f32, bf16" in capsys.readouterr().err


def test_the_config_is_shown_as_it_can_be_read_with_a_comment_for_each_setting(
    capsys: pytest.CaptureFixture[str],
):
    config = load(environment={})
    assert commands.show_config(config) == 0
    shown = capsys.readouterr().out
    assert yaml.safe_load(shown) == yaml.safe_load(yaml.safe_dump(as_dict(config)))
    for section in sections().values():
        for name, text in documented(section).items():
            assert f"# {text}" in shown or not text, name


def test_a_model_that_is_there_is_not_fetched_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    class Shelf:
        """Has the first of two models."""

        def state(self, model: object) -> str:
            return "present" if model is one else "missing"

        def pull(self, model: object) -> Path:
            return tmp_path

    one, other = types.SimpleNamespace(name="one"), types.SimpleNamespace(name="other")
    assert commands.models_pull(Shelf(), [one, other]) == 0  # pyright: ignore[reportArgumentType]
    assert capsys.readouterr().out.splitlines() == [
        f"one: already in {tmp_path}",
        f"other: fetched into {tmp_path}",
    ]
