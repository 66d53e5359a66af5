"""Which kernel is loaded: that of the wheel, or a compiled one; of which level."""

from __future__ import annotations

import ctypes.util
import importlib
import logging
import shutil
import subprocess
from collections.abc import Callable
from ctypes import Structure, c_int
from pathlib import Path
from typing import ClassVar

import pytest

from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native import compiling
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native.compiling import Compilation, find_compiler, levels
from s2s.tts.qwen3.native.library import (
    InstalledKernel,
    KernelLibrary,
    bind,
    choose,
    described,
    load_kernel,
    open_kernel,
    require_kernel,
)

LEVEL = levels()[0]


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (kernel.BUILD_VARIABLE, kernel.LEVEL_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel.wheel, "installed_library", lambda: None)


@pytest.fixture
def package(
    leveled_kernel: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The wheel's package as it would be installed, with one level in its library."""
    folder = tmp_path / "site" / "s2s_kernels"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    shutil.copy(leveled_kernel(LEVEL), folder / "libs2s_kernels.so")
    monkeypatch.syspath_prepend(folder.parent)
    importlib.invalidate_caches()
    return folder


def broken(package: Path) -> None:
    (package / "libs2s_kernels.so").unlink()
    (package / "libs2s_kernels.so").write_bytes(b"no library")


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("no_wheel")
def test_it_is_compiled_once(kernel_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_kernel.cache_clear()

    def build(*_: object) -> None:
        pytest.fail("built again")

    monkeypatch.setattr(compiling, "build", build)
    assert load_kernel(kernel_cache).level == "native"
    assert described(kernel_cache) == (
        f"kernel compiled by {find_compiler()[0]} for this very processor"
    )


def test_the_wheel_is_taken_where_it_is_installed(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_compiler(monkeypatch)
    found = choose(tmp_path)
    assert found == InstalledKernel(package / "libs2s_kernels.so", LEVEL, "")
    assert described(tmp_path) == f"kernel installed (s2s-kernels), level {LEVEL}"
    opened = open_kernel(found.library(), found.level)
    assert (opened.levels, opened.frame_uniforms(15, 2)) == ([LEVEL], 75)
    require_kernel()
    load_kernel.cache_clear()
    kernel.kernel_path.cache_clear()
    assert load_kernel(tmp_path / "none").level == LEVEL
    place = kernel.kernel_path(tmp_path / "none")
    assert place.parent == tmp_path / "none"
    assert place.name == found.name()
    assert not place.parent.exists(), "nothing was compiled"
    load_kernel.cache_clear()


@pytest.mark.usefixtures("package")
def test_a_compiled_one_can_be_asked_for(
    tmp_path: Path, kernel_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel.BUILD_VARIABLE, "1")
    assert isinstance(choose(tmp_path), Compilation)
    assert choose(tmp_path).level == "native"
    assert "to be compiled at the first start" in described(tmp_path)
    no_compiler(monkeypatch)
    with pytest.raises(KernelError, match="no C compiler"):
        require_kernel()


@pytest.mark.usefixtures("package")
def test_a_level_that_the_library_lacks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel.LEVEL_VARIABLE, "sse9")
    with pytest.raises(KernelError, match=rf"no level 'sse9' \(S2S_KERNEL_LEVEL\).*{LEVEL}"):
        choose(tmp_path)


def test_a_level_that_the_processor_lacks_is_refused(
    executed_levels: list[str], tmp_path: Path
) -> None:
    lacking = [level for level in levels() if level not in executed_levels]
    if not lacking:
        pytest.skip("this processor executes all levels")
    path = tmp_path / "kernel.so"
    command = [*find_compiler(), f"-DS2S_LEVEL={lacking[0]}", "-shared", "-fPIC"]
    subprocess.run([*command, compiling.SOURCES / "dispatch.c", "-o", path], check=True)
    with pytest.raises(KernelError, match=f"does not execute the level {lacking[0]}"):
        KernelLibrary(path, lacking[0])
    with pytest.raises(KernelError, match="executes no level of"):
        KernelLibrary(path)


def test_a_wheel_of_another_version_is_named_and_compiled_instead(
    package: Path,
    kernel_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(kernel, "INTERFACE", kernel.INTERFACE + 1)
    with caplog.at_level(logging.WARNING):
        assert isinstance(choose(tmp_path), Compilation)
    assert "another version of s2s" in caplog.text
    no_compiler(monkeypatch)
    with pytest.raises(KernelError, match=r"another version.*pip install --upgrade s2s-kernels"):
        choose(tmp_path)


def test_what_is_no_library_of_ours_says_so(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(package)
    no_compiler(monkeypatch)
    with pytest.raises(KernelError, match="cannot be loaded"):
        choose(tmp_path)
    other = ctypes.util.find_library("m")
    if other is not None:
        with pytest.raises(KernelError, match="no kernel of s2s"):
            open_kernel(Path(other))


def test_a_structure_of_another_size_is_refused(kernel_cache: Path) -> None:
    class Longer(Structure):
        _fields_: ClassVar = [(f"number{at}", c_int) for at in range(20)]

    library = load_kernel(kernel_cache)
    with pytest.raises(KernelError, match="Sampling has 16 bytes where 80 are wanted"):
        bind(library, {}, {"Sampling": Longer})
    with pytest.raises(KernelError, match="Nothing has 0 bytes"):
        bind(library, {}, {"Nothing": Longer})


def test_its_interface_is_that_of_the_sources() -> None:
    header = (compiling.SOURCES / "dispatch.h").read_text(encoding="utf-8")
    assert f"S2S_INTERFACE = {kernel.INTERFACE} }}" in header
