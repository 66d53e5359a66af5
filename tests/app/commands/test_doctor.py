"""The command `doctor`: it looks, or it measures."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.doctor import findings, measure

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_it_looks_unless_it_is_told_to_measure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(findings, "doctor", lambda *_: 3)
    monkeypatch.setattr(measure, "measure", lambda *_: 4)
    assert cli.main(["doctor"]) == 3
    assert cli.main(["doctor", "--measure"]) == 4
