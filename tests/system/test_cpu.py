"""What processor this is."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from s2s.system.cpu import cores, cpu_name


def test_there_is_at_least_one_core_and_no_more_than_the_machine_has() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells")
def test_cores_that_this_process_may_not_use_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert cores() == 1


def test_its_name_is_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpu_name()
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    assert cpu_name() == (platform.processor() or platform.machine())
