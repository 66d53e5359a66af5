"""What is used of the cache is known to other programs for as long as it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from s2s.models.in_use import FOLDER, InUse, is_used
from s2s.models.store import Store


def test_a_folder_is_used_until_it_is_let_go(tmp_path: Path) -> None:
    model = tmp_path / "models" / "ear" / "model.onnx"
    uses = InUse(tmp_path)
    uses.hold(model)
    uses.hold(model)
    assert is_used(tmp_path, model.parent)
    assert is_used(tmp_path, model)
    assert is_used(tmp_path, tmp_path / "models"), "what holds it is used too"
    assert not is_used(tmp_path, tmp_path / "models" / "mouth")
    assert not is_used(tmp_path, tmp_path / "mode")
    uses.let_go()
    uses.let_go()
    assert not is_used(tmp_path, model.parent)


def test_two_programs_may_use_the_same(tmp_path: Path) -> None:
    model = tmp_path / "models" / "ear"
    first, second = InUse(tmp_path), InUse(tmp_path)
    first.hold(model)
    second.hold(model)
    first.let_go()
    assert is_used(tmp_path, model)
    second.let_go()
    assert not is_used(tmp_path, model)


def test_what_is_forgotten_is_let_go(tmp_path: Path) -> None:
    uses = InUse(tmp_path)
    uses.hold(tmp_path / "models" / "ear")
    del uses
    assert not is_used(tmp_path, tmp_path / "models" / "ear")


def test_another_process_holds_what_it_uses_until_it_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from s2s.models.in_use import InUse\n"
        f"uses = InUse(Path({str(tmp_path)!r})); uses.hold(Path({str(tmp_path)!r}) / 'voices')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"held"
        assert is_used(tmp_path, tmp_path / "voices")
        other.kill()
        other.wait()
    assert not is_used(tmp_path, tmp_path / "voices")


@pytest.mark.parametrize("place", ["elsewhere", ".", FOLDER])
def test_nothing_else_is_noted(tmp_path: Path, place: str) -> None:
    root = tmp_path / "home"
    root.mkdir()
    path = tmp_path / "elsewhere" if place == "elsewhere" else root / place
    uses = InUse(root)
    uses.hold(path)
    assert not (root / FOLDER).exists()
    assert not is_used(root, path)


def test_a_store_uses_what_it_was_asked_for(tmp_path: Path) -> None:
    voice = tmp_path / "models" / "mine" / "voice.onnx"
    voice.parent.mkdir(parents=True)
    voice.write_bytes(b"x")
    store = Store(tmp_path)
    assert not is_used(tmp_path, voice)
    assert store.path(voice) == voice
    assert is_used(tmp_path, voice)
    del store
    assert not is_used(tmp_path, voice)
