"""The C compiler of the tests: what one test had compiled, the next gets without it.

Many tests begin in an empty folder, and each would compile the kernel there, for six seconds. The
product finds this program as its compiler (`CC`), here and in every process that tests start; what
was compiled from the same files with the same flags is copied. A run of the tests begins with
nothing. What must really be compiled runs without `CC` (tests/test_package.py).

    python -I -S compiled_once.py FLAG...     what the compiler would do with these flags
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

REAL, KEPT = "COMPILED_ONCE_BY", "COMPILED_ONCE_IN"
"""Variables: the compiler, and the folder where what it made is kept."""


def pytest_configure(config: pytest.Config) -> None:
    found = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if os.environ.get("CC") or found is None or sys.platform == "win32":
        return  # also in a run of tests that a test starts
    kept = tempfile.mkdtemp(prefix="s2s-compiled-")
    config.add_cleanup(lambda: shutil.rmtree(kept, ignore_errors=True))
    command = shlex.join([sys.executable, "-I", "-S", __file__])
    os.environ |= {REAL: found, KEPT: kept, "CC": command}


def made_of(flags: list[str], out: str) -> str:
    """A name for what comes out: the flags, and the content of every file named or beside one."""
    digest = hashlib.sha256()
    for flag in flags:
        path = Path(flag)
        if flag == out or not path.is_file():
            digest.update(b"out" if flag == out else flag.encode())
        else:
            beside = sorted({path, *path.parent.glob("*.h")})
            digest.update(b"".join(each.name.encode() + each.read_bytes() for each in beside))
        digest.update(b"\0")
    return digest.hexdigest()


def main(flags: list[str]) -> int:
    """Compile, or copy what was compiled before; the compiler's exit code."""
    command = [os.environ[REAL], *flags]
    if "-o" not in flags or "-E" in flags:
        return subprocess.run(command).returncode
    out = Path(flags[flags.index("-o") + 1])
    kept = Path(os.environ[KEPT]) / made_of(flags, str(out))
    if not kept.is_file():
        code = subprocess.run(command).returncode
        if code or not out.is_file():
            return code
        whole = kept.with_name(f"{kept.name}.{os.getpid()}")
        shutil.copy2(out, whole)
        whole.replace(kept)
    else:
        shutil.copy2(kept, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
