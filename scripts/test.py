"""Run the tests: `python3 scripts/test.py`. Installs what is needed; arguments go to pytest.

All tests run in two processes at once: one alone leaves a core idle. What each of them runs never
changes, so the tests of a process always meet in the same order. With arguments there is one
process, but for `--durations`: tests of a sound server want the machine for themselves, `--pdb`
wants the terminal. Standard library only; Linux, macOS, Windows; Python 3.11 or newer.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from environment import ROOT, prepare, python, require_python, say

HALF = (
    "tests/tts/qwen3",
    "tests/test_document_commands.py",
    "tests/app/test_ends.py",
    "tests/app/doctor",
    "tests/bench/qwen3",
    "tests/records",
)
"""What takes one of the two processes as long as all the rest takes the other, on two cores."""


def main() -> int:
    """Prepare, fetch the models that tests use, run pytest; returns its exit code."""
    require_python()
    prepare(["test"])
    say("Fetching the models the tests use, where they are missing")
    pull = [str(python()), "-m", "s2s", "models", "pull", "embedded", "test"]
    if subprocess.run(pull, stdout=subprocess.DEVNULL).returncode:
        return 1
    return at_once(commands(sys.argv[1:]))


def commands(arguments: Sequence[str]) -> list[list[str]]:
    """What runs the tests: one command, or two for all of them. Should one crash, all it said is
    there (`-u`)."""
    tests = [str(python()), "-u", "-m", "pytest", "--require-models", *arguments]
    if not all(each.startswith("--durations") for each in arguments):
        return [tests]
    return [[*tests, *(f"--ignore={each}" for each in HALF)], [*tests, *HALF]]


def at_once(running: Sequence[Sequence[str]]) -> int:
    """Run one command, or two at the same time; 0, or the exit code of the first that failed.

    What the first says is shown at once, what the second says when both have ended.
    """
    with tempfile.TemporaryFile() as said:
        started = [
            subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)
            for command, out in zip(running, (None, said), strict=False)
        ]
        codes = [each.wait() for each in started]
        said.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(said, sys.stdout.buffer)
        sys.stdout.flush()
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
