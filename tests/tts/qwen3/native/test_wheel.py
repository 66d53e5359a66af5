"""The library of the wheel, where it is installed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from s2s.tts.qwen3.native.wheel import installed_library, installed_version


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, before all others."""
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return tmp_path


@pytest.mark.parametrize("name", ["libs2s_kernels.so", "libs2s_kernels.dylib", "s2s_kernels.dll"])
def test_it_is_the_library_in_the_package(name: str, site: Path) -> None:
    package = site / "s2s_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    assert installed_library() is None
    (package / "other.so").touch()
    (package / name).touch()
    assert installed_library() == package / name


def test_a_folder_of_that_name_is_no_wheel(site: Path) -> None:
    (site / "s2s_kernels").mkdir()
    assert installed_library() is None


def test_its_version_is_that_of_the_distribution(site: Path) -> None:
    info = site / "s2s_kernels-7.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: s2s-kernels\nVersion: 7.5\n")
    assert installed_version() == "7.5"
