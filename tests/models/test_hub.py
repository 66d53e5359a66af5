"""The hub, held by one on this machine that the real client asks: what it says, what comes, and how
it is when it does not answer."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path

import pytest

from s2s.models.downloading import FetchError, silent
from s2s.models.hub import Hub
from s2s.models.manifest import HubPart, LocalPart, Model, ModelFile
from s2s.models.store import Store, StoreError
from tests.support.local_hub import LocalHub

CONTENT = b"weights" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PART = HubPart("owner/repo", "sub/model.gguf")


@pytest.fixture(autouse=True)
def one_file(hub: LocalHub) -> None:
    hub.files["owner/repo", "sub/model.gguf"] = CONTENT


def a_store(tmp_path: Path, sha256: str | None, *others: LocalPart) -> tuple[Store, Model]:
    sources = ((PART,), *((other,) for other in others))
    file = ModelFile("model.gguf", len(CONTENT), sha256, sources)
    model = Model("named", "for tests", "MIT", "", (), (file,))
    return Store(tmp_path / "cache", manifest={"named": model}), model


def test_it_says_what_it_has_without_giving_it(hub: LocalHub):
    found = Hub().announced(PART)
    assert (found.size_bytes, found.sha256) == (len(CONTENT), DIGEST)
    assert [method for method, _ in hub.asked] == ["HEAD"]
    with pytest.raises(FetchError, match=r"hf://owner/repo/other\.gguf: "):
        Hub().announced(HubPart("owner/repo", "other.gguf"))


def test_a_file_comes_with_progress(hub: LocalHub, tmp_path: Path):
    told: list[tuple[str, int, int]] = []
    path = Hub().fetch(PART, tmp_path, lambda *state: told.append(state), DIGEST)
    assert path.read_bytes() == CONTENT
    assert told[-1] == ("hf://owner/repo/sub/model.gguf", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    before = len(hub.asked)
    assert Hub().fetch(PART, tmp_path, silent, DIGEST) == path
    assert len(hub.asked) == before, "what was fetched whole is not asked for"


def test_another_file_than_the_wanted_one_is_not_fetched(hub: LocalHub, tmp_path: Path):
    with pytest.raises(FetchError, match=f"the hub has another file: .*{DIGEST}"):
        Hub().fetch(PART, tmp_path, silent, "0" * 64)
    assert all(method == "HEAD" for method, _ in hub.asked)


def test_a_hub_that_is_silent_is_asked_once(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with socket.socket() as taken:  # bound and not listening: refused at once
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        asked = Hub()
        with pytest.raises(FetchError, match="the hub does not answer"):
            asked.announced(PART)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(FetchError, match="the hub does not answer"):
        asked.fetch(PART, tmp_path, silent)
    assert hub.asked == []


def test_offline_it_is_not_asked(hub: LocalHub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FetchError, match="HF_HUB_OFFLINE"):
        Hub().announced(PART)
    assert hub.asked == []


def test_the_hub_comes_first_and_the_next_source_when_it_has_another_file(
    hub: LocalHub, tmp_path: Path
):
    other = tmp_path / "package.gguf"
    other.write_bytes(CONTENT)
    store, _ = a_store(tmp_path, DIGEST, LocalPart(other))
    assert store.path("named").read_bytes() == CONTENT
    assert [method for method, _ in hub.asked].count("GET") == 1
    hub.files["owner/repo", "sub/model.gguf"] = b"moved on"
    store, model = a_store(tmp_path / "second", DIGEST, LocalPart(other))
    assert store.path("named").read_bytes() == CONTENT
    assert store.state(model) == "present"


def test_without_a_hash_the_first_download_is_trusted_and_kept(hub: LocalHub, tmp_path: Path):
    store, model = a_store(tmp_path, None)
    path = store.path("named")
    assert path.read_bytes() == CONTENT
    assert store.state(model) == "present"
    path.write_bytes(CONTENT[:-1] + b"x")
    assert store.state(model) == "damaged"
    with pytest.raises(StoreError, match=f"expected SHA-256 {DIGEST}, got"):
        store.path("named")
    hub.files["owner/repo", "sub/model.gguf"] = b"another one"
    with pytest.raises(StoreError, match=f"expected SHA-256 {DIGEST}, got"):
        store.pull(model)
    hub.files["owner/repo", "sub/model.gguf"] = CONTENT
    assert store.pull(model)
    assert store.path("named").read_bytes() == CONTENT


def test_without_a_hash_it_must_be_what_the_hub_says(hub: LocalHub, tmp_path: Path):
    hub.announces = "1" * 64
    store, model = a_store(tmp_path, None)
    with pytest.raises(StoreError, match=f"expected SHA-256 {'1' * 64}, got {DIGEST}"):
        store.path("named")
    assert store.state(model) == "missing"
