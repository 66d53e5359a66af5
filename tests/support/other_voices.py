"""Voices of packages that are not installed for the tests: torch and the like are large.

Each has an environment of its own, made once from the package index and kept in the cache of the
models; behind its packages lie those of the environment that the tests run in.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from s2s.models.store import home

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "voices"
MAKING_S = 1500
RUNNING_S = 1800


@dataclass(frozen=True, slots=True)
class OtherVoice:
    """A backend of the registry and what it is tested with."""

    name: str
    packages: Sequence[str]
    """As pip takes them."""
    does: str = "speak"
    """What its program does; "hear" for a recogniser."""
    without: Sequence[str] = ()
    """Packages that are installed without what they need, which is larger than their use here."""
    programs: Path = PROGRAMS
    """Where its program is; a library's own tests have theirs beside them."""

    @property
    def program(self) -> Path:
        """Speaks, or hears, with the library itself on a small model, and says what came of it."""
        return self.programs / f"{self.does}_{self.name.replace('-', '_')}.py"


def check_voice(voice: OtherVoice, folder: Path) -> Mapping[str, object]:
    """What its program printed: its last line, a JSON object, check -> what came of it."""
    python = environment(voice) / "bin" / "python"
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [python, "-W", "ignore", voice.program, folder],
        cwd=ROOT, env=environ, capture_output=True, text=True, timeout=RUNNING_S,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    told: object = json.loads(done.stdout.strip().splitlines()[-1])
    assert isinstance(told, dict)
    return told


def environment(voice: OtherVoice) -> Path:
    """The folder of its environment, made where it is missing."""
    mark = "_".join([*voice.packages, *voice.without]).replace("/", "-").replace(">", "")
    folder = home() / "test-voices" / f"{voice.name}-{mark[:100]}"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _run([sys.executable, "-m", "venv", folder])
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
        if voice.without:
            _run([*pip, "--no-deps", *voice.without])
        _run([*pip, *voice.packages])
        (folder / "whole").touch()
    # Every time: it may have been made for the tests of another checkout, which is gone.
    behind = next((folder / "lib").glob("python*")) / "site-packages" / "behind.pth"
    behind.write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    return folder


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAKING_S)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
