"""The benchmark of calls: by its cues alone, and with the real small model."""

from __future__ import annotations

import json

import pytest

from s2s.bench.calling.__main__ import main


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_without_a_model_the_cues_decide(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--without-model", "--others"]) == 0
    found = told(capsys)
    assert found["of"] == 40
    assert isinstance(found["wrong_calls"], int)
    assert found["wrong_calls"] >= 5


@pytest.mark.models
def test_the_embedded_model_calls_rightly_eighteen_times_of_twenty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    found = told(capsys)
    assert isinstance(found["right"], int)
    assert found["right"] >= 18
    assert found["wrong_calls"] == 0
