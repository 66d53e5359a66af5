"""The command `doctor`: it looks, or it measures."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.doctor import findings, measure, sources

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_it_looks_measures_or_asks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(findings, "doctor", lambda *_: 3)
    monkeypatch.setattr(measure, "measure", lambda *_, **__: 4)
    monkeypatch.setattr(sources, "sources", lambda _: 5)
    assert cli.main(["doctor"]) == 3
    assert cli.main(["doctor", "--measure"]) == 4
    assert cli.main(["doctor", "--sources"]) == 5


def test_what_is_looked_at_follows_the_flags(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    monkeypatch.setattr(findings, "doctor", lambda *given: asked.append(given[2]) or 0)
    assert cli.main(["doctor"]) == 0
    assert cli.main(["doctor", "--sound", "--json"]) == 0
    assert asked == [
        findings.DoctorWishes(level=True, network=True),
        findings.DoctorWishes(level=True, sound=True, network=True, as_json=True),
    ]
