"""A package index of one wheel, which pip takes for the only one there is."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

WheelMaker = Callable[[dict[str, bytes]], None]
"""Makes the wheel `carrier==1.0` of (member, content)."""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WheelMaker:
    """Makes a wheel `carrier==1.0` and lets pip see nothing else: no network in these tests."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    def make(members: dict[str, bytes]) -> None:
        metadata = "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\nRequires-Dist: heavy\n"
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        with zipfile.ZipFile(folder / "carrier-1.0-py3-none-any.whl", "w") as wheel:
            for name, content in members.items():
                wheel.writestr(name, content)
            wheel.writestr("carrier-1.0.dist-info/METADATA", metadata)
            wheel.writestr("carrier-1.0.dist-info/WHEEL", tags)
            wheel.writestr("carrier-1.0.dist-info/RECORD", "")

    return make
