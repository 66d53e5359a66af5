"""The compiled kernel: its products against plain arithmetic, on each vector unit there is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native.library import find_compiler, load_kernel


def test_without_a_compiler_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KernelError, match=r"no C compiler was found .*install one"):
        find_compiler()


def test_cc_names_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "ccache my-cc")
    assert find_compiler() == ("ccache", "my-cc")


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("a shell script")
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\necho 'transformer.c: no such thing' >&2\nexit 1\n")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    folder = tmp_path / "made"
    folder.mkdir()
    with pytest.raises(KernelError, match=r"failed: transformer\.c: no such thing"):
        kernel.build((str(script),), folder / "kernel.so")
    assert not list(folder.iterdir())
    with pytest.raises(KernelError, match="does not run"):
        kernel.build((str(tmp_path / "none"),), folder / "kernel.so")


def test_it_is_built_once(kernel_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.load_kernel.cache_clear()

    def build(*_: object) -> None:
        pytest.fail("built again")

    monkeypatch.setattr(kernel, "build", build)
    load_kernel(kernel_cache)
