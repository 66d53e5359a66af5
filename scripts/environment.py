"""The virtual environment that run.py and test.py share: made once, renewed when it must be.

Standard library only: it runs before anything is installed, on Linux, macOS and Windows.
"""

from __future__ import annotations

import ctypes.util
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "s2s-installed.json"
MIN_PYTHON = (3, 11)
NO_WHEEL = "docopt"
"""Pure Python that has no wheel (num2words, a test extra, wants it): the one source package."""

KERNEL_WHEEL = "S2S_KERNEL_WHEEL"
"""A variable that says where the wheel of the compiled kernel for Qwen3-TTS is: a folder of wheels,
a wheel, the address of one, or `index`. Without it the kernel is compiled at the first start. The
index is never asked unasked: a name that is not published yet could be anybody's there."""
KERNEL = "s2s-kernels"

PORTAUDIO_COMMANDS = {
    "apt-get": "sudo apt-get install libportaudio2",
    "dnf": "sudo dnf install portaudio",
    "pacman": "sudo pacman -S portaudio",
    "zypper": "sudo zypper install libportaudio2",
    "apk": "sudo apk add portaudio",
}


def say(text: str) -> None:
    """Tell the person what happens."""
    print(text, flush=True)


def require_python() -> None:
    """End with a clear message when this Python is too old."""
    if sys.version_info < MIN_PYTHON:
        sys.exit(
            f"Python {platform.python_version()} is too old: s2s needs "
            f"{MIN_PYTHON[0]}.{MIN_PYTHON[1]} or newer (https://www.python.org/downloads/)."
        )


def python() -> Path:
    """The Python of the virtual environment."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def prepare(extras: Sequence[str]) -> bool:
    """Make the virtual environment hold this project with at least these extras.

    Returns whether anything had to be installed. Ends the program when that fails.
    """
    kernel, extras = _kernel_wheel(), sorted(set(extras) | set(_installed_extras()))
    wanted = {"key": _key(), "extras": extras, "kernel": kernel}
    if _stamp() == wanted and python().is_file():
        return False
    STAMP.unlink(missing_ok=True)
    if not _usable():
        say(f"Making a virtual environment in {VENV}")
        _run([sys.executable, "-m", "venv", "--clear", str(VENV)], _venv_hint())
    names = ",".join(extras)
    say(f"Installing s2s[{names}] into it, wheels only. Once; this takes a minute or so.")
    pip = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run(
        [*pip, "--only-binary=:all:", f"--no-binary={NO_WHEEL}", "--editable", f"{ROOT}[{names}]"],
        "The packages could not be installed. Is there a network? The lines above say more.",
    )
    if kernel:
        say(f"Installing the kernel for Qwen3-TTS from {kernel}")
        _run(
            [*pip, "--only-binary=:all:", "--no-deps", *_kernel_source(kernel)],
            f"{KERNEL_WHEEL} is {kernel}: it could not be installed. Without it the kernel is "
            "compiled at the first start, by a C compiler.",
        )
    STAMP.write_text(json.dumps(wanted), encoding="utf-8")
    return True


def portaudio_hint() -> None:
    """On Linux, say how to get PortAudio where it is missing. Elsewhere the wheel brings it."""
    if platform.system() != "Linux" or ctypes.util.find_library("portaudio"):
        return
    commands = [text for tool, text in PORTAUDIO_COMMANDS.items() if shutil.which(tool)]
    command = commands[0] if commands else "install your system's portaudio package"
    say(f"No microphone or loudspeaker without the PortAudio library. To get it: {command}")


def _key() -> str:
    """What the installation depends on: the project's files, and which Python made it."""
    project = (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(project + sys.version.encode() + sys.executable.encode()).hexdigest()


def _stamp() -> dict[str, Any]:
    """What was noted of the last installation; nothing where there was none, or it is damaged."""
    try:
        stamp: object = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", stamp) if isinstance(stamp, dict) else {}


def _installed_extras() -> list[str]:
    """The extras of the last installation: they stay, so that one script undoes no other."""
    extras: Any = _stamp().get("extras", [])
    return list(map(str, extras))


def _kernel_wheel() -> str:
    """What S2S_KERNEL_WHEEL says now, or said when there was an installation; "" for nothing."""
    return os.environ.get(KERNEL_WHEEL, "").strip() or str(_stamp().get("kernel", ""))


def _kernel_source(wheel: str) -> list[str]:
    """What pip is told of it."""
    if wheel == "index":
        return [KERNEL]
    if Path(wheel).is_dir():
        return ["--no-index", "--find-links", wheel, KERNEL]
    return [wheel]


def _usable() -> bool:
    """Whether the virtual environment is there, runs, and is of this Python's version."""
    if not python().is_file():
        return False
    code = "import pip, sys; print(sys.version)"
    result = subprocess.run([str(python()), "-c", code], capture_output=True, text=True)
    return result.returncode == 0 and result.stdout.strip() == sys.version.strip()


def _venv_hint() -> str:
    if platform.system() == "Linux" and shutil.which("apt-get"):
        return "The virtual environment could not be made: sudo apt-get install python3-venv"
    return "The virtual environment could not be made. The lines above say why."


def _run(command: Sequence[str], failure: str) -> None:
    if subprocess.run(command).returncode:
        sys.exit(failure)
