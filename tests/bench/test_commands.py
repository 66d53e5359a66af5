"""`bench`: each measurement ends with one JSON line, and its code says whether all is well."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from s2s.app import cli
from s2s.testing import random_conversations
from s2s.tts import qwen3

pytestmark = pytest.mark.usefixtures("clean_environment")


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_random_conversations_are_held_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "random", "--count", "3", "--seed", "5", "--jobs", "1"]) == 0
    found = last_line(capsys)
    assert (found["conversations"], found["wrong"], found["first_seed"]) == (3, 0, 5)


def test_a_conversation_of_scripted_models_has_its_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["bench", "conversation", "--turns", "2"]) == 0
    found = last_line(capsys)
    assert (found["turns"], found["answered"], found["models"]) == (2, 2, "scripted")


@pytest.mark.parametrize(("agreed", "code"), [(1.0, 0), (0.9, 1)])
def test_float32_that_does_not_agree_is_a_failure(
    agreed: float, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = SimpleNamespace(name="f32", predictor=agreed)
    parity = SimpleNamespace(quality=lambda quants, frames: [row])
    monkeypatch.setattr(qwen3, "open_parity", lambda *_, **__: parity)
    monkeypatch.setattr(qwen3, "quality_table", lambda rows: "a table")
    monkeypatch.setattr("s2s.bench.commands.asdict", lambda each: {})
    assert cli.main(["bench", "parity", "0.6b-base", "--quants", "f32"]) == code


def test_all_are_those_of_the_cores_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def quality(quants: list[str], frames: int) -> list[SimpleNamespace]:
        asked.extend(quants)
        return [SimpleNamespace(name=each, predictor=0.5) for each in quants]

    monkeypatch.setattr(qwen3, "open_parity", lambda *_, **__: SimpleNamespace(quality=quality))
    monkeypatch.setattr(qwen3, "quality_table", lambda rows: "a table")
    monkeypatch.setattr("s2s.bench.commands.asdict", lambda each: {})
    for backend in qwen3.BACKENDS:
        here = None if backend.name in ("ggml", "mlx") else "not here"
        monkeypatch.setattr(type(backend), "missing", lambda _, here=here: here)
    assert cli.main(["bench", "parity", "0.6b-base", "--quants", "all"]) == 1
    assert {name.partition(":")[0] for name in asked} == {"ggml", "mlx"}
    assert {"ggml:q4_k_m", "ggml:f32", "mlx:mlx-6", "mlx:mlx-f32"} <= set(asked)


def test_a_conversation_that_went_wrong_is_told_with_its_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import concurrent.futures

    monkeypatch.setattr(
        concurrent.futures, "ProcessPoolExecutor", concurrent.futures.ThreadPoolExecutor
    )
    monkeypatch.setattr(random_conversations, "violations", lambda _: ["it never ended"])
    assert cli.main(["bench", "random", "--count", "1", "--seed", "7", "--jobs", "1"]) == 1
    assert "conversation 7: it never ended" in capsys.readouterr().out
