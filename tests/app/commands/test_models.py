"""The command `models`: listed, fetched, found, converted."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.commands import models
from s2s.app.settings import settings
from s2s.config import registry
from s2s.models import store

pytestmark = pytest.mark.usefixtures("clean_environment")


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
        made = settings(options)
    except registry.RegistryError as error:
        pytest.skip(str(error))
    names = {found.name for found in models.needed_models(made, store.Store())}
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
    assert models.models_pull(Shelf(), [one, other]) == 0  # pyright: ignore[reportArgumentType]
    assert capsys.readouterr().out.splitlines() == [
        f"one: already in {tmp_path}",
        f"other: fetched into {tmp_path}",
    ]


def test_models_pull_without_names_is_what_the_config_needs(monkeypatch: pytest.MonkeyPatch):
    pulled: list[str] = []

    def pull(store: object, wanted: tuple[object, ...]) -> int:
        pulled.extend(model.name for model in wanted)  # type: ignore[attr-defined]
        return 0

    monkeypatch.setattr(models, "models_pull", pull)
    assert cli.main(["models", "pull"]) == 0
    assert set(pulled) == {"silero-vad", "smart-turn-v3", "moonshine-tiny-en", "smollm2-135m"}
    pulled.clear()
    assert cli.main(["models", "pull", "embedded"]) == 0
    assert set(pulled) == {"silero-vad", "smart-turn-v3", "moonshine-tiny-en", "smollm2-135m"}
