"""The kernel as it is compiled here: by which compiler, under which name, into whose folder."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native.compiling import SOURCES, build, common_flags, find_compiler, levels, plan
from s2s.tts.qwen3.native.library import load_kernel

posix = pytest.mark.skipif(os.name == "nt", reason="Windows compiles no kernel")

Compiler = Callable[[str], Path]


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    """Make CC a shell script of these lines."""

    def make(lines: str) -> Path:
        script = tmp_path / "cc"
        script.write_text(f"#!/bin/sh\n{lines}\n")
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("CC", str(script))
        return script

    return make


def test_without_a_compiler_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KernelError, match=r"no C compiler was found .*install one"):
        find_compiler()


def test_cc_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "ccache my-cc")
    assert find_compiler() == ("ccache", "my-cc")


@posix
def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(
    tmp_path: Path, compiler: Compiler
) -> None:
    script = compiler("echo 'transformer.c: no such thing' >&2\nexit 1")
    folder = tmp_path / "made"
    folder.mkdir()
    with pytest.raises(KernelError, match=r"failed: transformer\.c: no such thing"):
        build((str(script),), folder / "kernel.so")
    assert not list(folder.iterdir())
    with pytest.raises(KernelError, match="does not run"):
        build((str(tmp_path / "none"),), folder / "kernel.so")


@posix
def test_its_name_tells_processors_and_versions_of_the_compiler_apart(
    tmp_path: Path, compiler: Compiler
) -> None:
    """A folder that machines share holds a kernel for each: no illegal instruction."""

    def named(macros: str) -> str:
        compiler(f"echo '{macros}'")
        return plan(tmp_path).path.name

    with_avx = named("#define __AVX2__ 1")
    assert named("#define __AVX2__ 1") == with_avx
    others = {named(""), named("#define __AVX512F__ 1"), named('#define __VERSION__ "13"')}
    assert len(others | {with_avx}) == 4


@posix
def test_mcpu_is_taken_where_march_is_not_known(tmp_path: Path, compiler: Compiler) -> None:
    compiler('case "$*" in *-march=native*) exit 1;; esac\necho ok')
    assert plan(tmp_path).flags == ("-mcpu=native",)
    compiler('case "$*" in *native*) exit 1;; esac\necho ok')
    assert plan(tmp_path).flags == ()
    compiler("exit 1")
    with pytest.raises(KernelError, match="failed"):
        plan(tmp_path)


def test_a_level_that_there_is_not_is_named_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match=r"no level 'sse9' .*there is: ") as raised:
        plan(tmp_path, "sse9")
    assert all(level in str(raised.value) for level in levels())


@posix
def test_nothing_is_compiled_into_a_folder_that_others_can_write(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(KernelError, match=r"no kernel is loaded from .*other users can write"):
        plan(folder).library()
    assert not list(folder.iterdir())


def test_flags_of_every_level_promise_bits_and_the_stack() -> None:
    """Nothing on the stack may be sized by a checkpoint, and no product is fused by a compiler."""
    flags = common_flags()
    assert {"-ffp-contract=off", "-Werror=vla", "-fvisibility=hidden"} <= set(flags)


@pytest.mark.skipif(shutil.which("nm") is None, reason="Windows has no nm")
def test_only_names_of_its_own_are_seen_from_outside(kernel_cache: Path) -> None:
    library = load_kernel(kernel_cache)
    command = ["nm", "--dynamic", "--defined-only", library.path]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in told.splitlines()}
    marked: set[str] = set()
    for source in SOURCES.glob("*.[ch]"):
        text = source.read_text(encoding="utf-8")
        marked |= set(re.findall(r"^S2S_API [^(;]*?(\w+)\(", text, re.MULTILINE))
    assert len(marked) > 20
    of_levels = {name for name in marked if not name.startswith("s2s_")}
    assert names == (marked - of_levels) | {
        f"s2s_{level}_{name}" for name in of_levels for level in library.levels
    }


def test_the_processor_is_asked_as_the_system_sees_it(executed_levels: list[str]) -> None:
    """Against what Linux says of the processor."""
    info = Path("/proc/cpuinfo")
    if not info.is_file():
        pytest.skip("only Linux has /proc")
    words = set(info.read_text().split())
    wanted = {
        "baseline": set(), "avx2": {"avx2", "fma", "f16c"}, "avx2_vnni": {"avx2", "avx_vnni"},
        "avx512_vnni": {"avx512bw", "avx512_vnni"}, "neon": set(), "dotprod": {"asimddp"},
        "i8mm": {"asimddp", "i8mm"},
    }  # fmt: skip
    assert executed_levels == [level for level in levels() if wanted[level] <= words]


def test_a_level_is_compiled_and_found(leveled_kernel: Callable[[str], Path]) -> None:
    level = levels()[0]
    library = ctypes.CDLL(str(leveled_kernel(level)))
    library.s2s_kernel_levels.restype = ctypes.c_char_p
    assert library.s2s_kernel_levels().decode() == level
    assert library.s2s_kernel_executes(b"native") == -1
    assert library.s2s_kernel_executes(level.encode()) == 1
