"""The wheel of the compiled kernel: built here, installed where there is no compiler, and held
against the same numbers as a compiled one, at every level that this processor executes.

With `--require kernels`, because it is built with scikit-build-core and CMake of the package index.
Its tiny part runs always: tests/tts/qwen3/native/test_library.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

pytestmark = [pytest.mark.kernels, pytest.mark.timeout(1200)]

ROOT = Path(__file__).parents[1]
PARITY = [
    f"tests/tts/qwen3/native/test_{part}.py"
    for part in (
        "transformer",
        "codec",
        "codec_transformer",
        "codec_upsampler",
        "language",
        "kept",
        "speech",
    )
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, for this machine."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder]
    run([*pip, ROOT / "native"], {})
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel in it, which borrows everything else."""
    place = tmp_path_factory.mktemp("installed")
    run([sys.executable, "-m", "venv", "--without-pip", place], {})
    program = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", program, "install", "--quiet", "--no-index"]
    run([*pip, "--find-links", wheel.parent, "s2s-kernels"], {})
    [packages] = place.rglob("site-packages")
    borrowed = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    (packages / "borrowed.pth").write_text("\n".join(sorted(borrowed)), encoding="utf-8")
    return program


def run(command: Sequence[str | Path], environment: Mapping[str, str]) -> str:
    """What a program printed that has to succeed."""
    given = {**os.environ, "PYTHONPATH": "", **environment}
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_it_holds_one_library_and_is_of_no_python(wheel: Path) -> None:
    assert "-py3-none-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert len(names) == 3
    assert {"s2s_kernels/__init__.py", "s2s_kernels/include/s2s_qwen3.h"} < names
    assert wheel.stat().st_size < 1 << 20


@pytest.fixture(scope="module")
def executed_levels(python: Path) -> list[str]:
    """Those of the installed library that this processor executes."""
    told = run([python, ROOT / "native" / "tests" / "levels.py"], {})
    _, levels, here, best = re.split(": levels |; here |; best ", told)
    executed = here.split()
    assert set(executed) <= set(levels.split())
    assert executed[-1] == best.split()[0]
    return executed


def test_it_has_a_level_for_any_processor(executed_levels: list[str]) -> None:
    assert executed_levels[0] in ("baseline", "neon", "native")


def test_it_computes_what_it_should_at_every_level_without_a_compiler(
    python: Path, executed_levels: list[str], tmp_path: Path
) -> None:
    """The tests of a compiled kernel, on the installed one."""
    environment = {"PATH": str(python.parent), "CC": "", "S2S_HOME": str(tmp_path)}
    assert not any(shutil.which(name, path=str(python.parent)) for name in ("cc", "gcc", "clang"))
    for level in executed_levels:
        told = run(
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-skips", *PARITY],
            {**environment, "S2S_KERNEL_LEVEL": level},
        )
        assert " passed" in told or "[100%]" in told
