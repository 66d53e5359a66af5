"""Tests of the engine on a core that needs an environment of its own: the same file, run there.

Beside the core's own tests lies abort_qwen3_NAME.py, which calls `stopped` and is run by
`tests.support.other_voices`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAM = "abort_qwen3_"


def elsewhere() -> dict[str, Path]:
    """The program of each core that is stopped in an environment of its own, by its name."""
    found = sorted(HERE.parent.glob(f"*/{PROGRAM}*.py"))
    return {path.stem.removeprefix(PROGRAM): path for path in found}


def stopped(core: str, folder: Path) -> dict[str, object]:
    """Run tests/tts/qwen3/engine/test_abort.py with this core alone: what came of each test, True
    or how it failed."""
    os.chdir(HERE.parents[3])
    outcomes = _Outcomes()
    # Warnings of packages that are not ours, which the environment brings, are no failures.
    options = ["-q", "-W", "ignore", "-p", "no:cacheprovider", "-k", core]
    options.append(f"--basetemp={folder / 'pytest'}")
    pytest.main([*options, str(HERE / "test_abort.py")], plugins=[outcomes])
    return outcomes.told


class _Outcomes:
    """What came of each test: a plug-in of pytest."""

    def __init__(self) -> None:
        self.told: dict[str, object] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::")[2].partition("[")[0]
        if report.failed:
            self.told[name] = report.longreprtext[-1500:]
        elif report.when == "call":
            self.told.setdefault(name, report.passed)
