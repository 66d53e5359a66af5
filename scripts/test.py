"""Run the tests: `python3 scripts/test.py`. Installs what is needed; arguments go to pytest.

Standard library only; Linux, macOS, Windows; Python 3.11 or newer.
"""

from __future__ import annotations

import os
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
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "S2S_REQUIRE_MODELS": "1"}
    tests = [str(python()), "-m", "pytest", *sys.argv[1:]]
    return subprocess.run(tests, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
