"""One reading of HF_HUB_OFFLINE, for everything that may download."""

from __future__ import annotations

import pytest

from s2s.models.downloading import offline


@pytest.mark.parametrize(
    ("value", "forbidden"),
    [("1", True), ("true", True), ("ON", True), (" yes ", True), ("", False), ("0", False),
     ("false", False), ("no", False)],
)  # fmt: skip
def test_a_value_forbids_downloads_as_it_does_for_the_hub_client(
    value: str, forbidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert offline() is forbidden


def test_nothing_is_forbidden_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert not offline()
