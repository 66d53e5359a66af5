"""One engine in its own interpreter: when its sound came, or why there is none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from s2s.bench.peers import run
from s2s.bench.peers.run import RATE_HZ, timed, version, voice


def test_chunks_are_timed_and_empty_ones_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 1.25, 1.5])
    monkeypatch.setattr(run.time, "perf_counter", lambda: next(times))

    def speak(frames: int, seed: int) -> Iterator[int]:
        yield from (RATE_HZ // 2, 0, frames * RATE_HZ)

    assert timed(speak, 2, 0) == {"at_s": [0.25, 0.5], "lasts_s": [0.5, 2.0]}


def test_the_voice_is_always_the_same_and_versions_are_known() -> None:
    assert (voice(8) == voice(8)).all()
    assert version("numpy").count(".") >= 1
    assert version("there-is-no-such-package") == ""


def told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], opens: object
) -> dict[str, object]:
    monkeypatch.setitem(run.ENGINES, "s2s", ("s2s", opens))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "argv", ["run", "s2s", "--model", "m", "--runs", "2", "--set", "a=b"])
    run.main()
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_it_speaks_once_unheard_and_then_as_often_as_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[int, int]] = []

    def opens(model: object, threads: int, options: dict[str, str]) -> object:
        assert options == {"a": "b"}

        def speak(frames: int, seed: int) -> Iterator[int]:
            asked.append((frames, seed))
            yield 100

        return speak

    found = told(monkeypatch, capsys, opens)
    assert asked == [(4, 0), (50, 0), (50, 1)]
    assert len(found["runs"]) == 2  # type: ignore[arg-type]
    assert "error" not in found


def test_what_keeps_it_from_running_is_its_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def opens(*_: object) -> object:
        raise ImportError("no torch")

    found = told(monkeypatch, capsys, opens)
    assert found["error"] == "ImportError: no torch"
    assert found["package"] == "s2s"
