"""Run the tests: `python3 scripts/test.py`. Installs what is needed; arguments go to pytest.

Standard library only; Linux, macOS, Windows; Python 3.11 or newer.
"""

from __future__ import annotations

import subprocess
import sys

from environment import ROOT, prepare, python, require_python, say


def main() -> int:
    """Prepare, fetch the models that tests use, run pytest; returns its exit code."""
    require_python()
    prepare(["test"])
    say("Fetching the models the tests use, where they are missing")
    pull = [str(python()), "-m", "s2s", "models", "pull", "embedded", "test"]
    if subprocess.run(pull, stdout=subprocess.DEVNULL).returncode:
        return 1
    tests = [str(python()), "-m", "pytest", "--require-models", *sys.argv[1:]]
    return subprocess.run(tests, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
