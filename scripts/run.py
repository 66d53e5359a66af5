"""Talk: `python3 scripts/run.py`. Installs what is needed the first time; arguments go to s2s.

Without a microphone or loudspeaker it holds the conversation with recordings instead.
Standard library only; Linux, macOS, Windows; Python 3.11 or newer.
"""

from __future__ import annotations

import os
import subprocess
import sys

from environment import portaudio_hint, prepare, python, require_python, say


def main() -> int:
    """Prepare, then talk; returns the exit code of the conversation."""
    require_python()
    s2s = [str(python()), "-P", "-m", "s2s"]  # -P: no module of the folder one is in
    if prepare(["embedded"]):
        say("Fetching the embedded models (154 MB)")
        if subprocess.run([*s2s, "models", "pull", "embedded"]).returncode:
            return 1
    portaudio_hint()
    command = [*s2s, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)
    try:
        return subprocess.run(command).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
