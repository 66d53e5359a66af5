"""A conversation with the real models, recorded, and held again without the language model."""

from __future__ import annotations

from pathlib import Path

import pytest

import s2s.app.replaying
from s2s.app import cli
from s2s.records.folder import read_record

pytestmark = [pytest.mark.models, pytest.mark.timeout(400)]

SPEECH = Path(__file__).parents[2] / "data" / "librivox_0920.wav"


def test_it_goes_the_same_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = tmp_path / "records"
    flags = ["--set", "llm.max_tokens=16", "--set", "llm.threads=1", "--record", str(records)]
    assert cli.main(["--input", str(SPEECH), "--fast", *flags]) == 0
    (folder,) = records.iterdir()
    (turn,) = read_record(folder).story.turns
    assert "amiable" in turn.text

    def load(*_: object) -> object:
        pytest.fail("a model is loaded that nobody needs")

    for name in ("create_chat_model", "create_transcriber", "create_synthesizer"):
        monkeypatch.setattr(s2s.app.replaying.registry, name, load)
    capsys.readouterr()
    assert cli.main(["replay", str(folder)]) == 0
    assert "Every decision is the same." in capsys.readouterr().out
