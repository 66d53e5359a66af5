"""Finding checkpoints: paths, names, and the hub client's cache without a network."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.hub import Source, fetch, find_codec, hub_id, local
from s2s.tts.qwen3.errors import HubError

REVISION = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "speech_tokenizer/config.json": b"{ }",
}


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache; the client may not use the network."""
    constants = pytest.importorskip("huggingface_hub.constants")
    cache = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return cache


def fill(cache: Path, hub_id: str) -> Path:
    """Lay files out as the hub client does: content by hash, names as links to it."""
    repository = cache / f"models--{hub_id.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(REVISION)
    snapshot = repository / "snapshots" / REVISION
    (repository / "blobs").mkdir()
    for name, content in FILES.items():
        large = name.endswith(".safetensors")
        git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        blob = repository / "blobs" / (hashlib.sha256(content).hexdigest() if large else git)
        blob.write_bytes(content)
        link = snapshot / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return snapshot


def test_a_folder_is_itself(tmp_path: Path) -> None:
    folder = tmp_path / "my-voice"
    folder.mkdir()
    assert local(folder, tmp_path) == Source("my-voice", folder)
    assert local(str(folder), tmp_path) == Source("my-voice", folder)


def test_an_entry_of_the_cache_is_found_by_name(tmp_path: Path) -> None:
    name = "0.6B-Base-q8_0-12345678"
    (tmp_path / name).mkdir()
    assert local(name, tmp_path) == Source(name, tmp_path / name)
    assert local("0.6b-base", tmp_path) is None


@pytest.mark.parametrize("name", ["0.6b-base", "0.6B-Base", "Qwen/Qwen3-TTS-12Hz-0.6B-Base"])
def test_published_models_have_short_names(name: str) -> None:
    assert hub_id(name) == "Qwen/Qwen3-TTS-12Hz-0.6B-Base"


def test_a_cached_download_is_used_offline(hub_cache: Path) -> None:
    snapshot = fill(hub_cache, "someone/else")
    assert fetch("someone/else") == Source("else", snapshot)


def test_of_the_codec_no_more_is_needed_than_its_folder(hub_cache: Path, tmp_path: Path) -> None:
    codec = fill(hub_cache, "someone/else") / "speech_tokenizer"
    assert find_codec("someone/else", tmp_path) == codec
    assert find_codec(codec.parent, tmp_path) == codec
    assert find_codec(codec, tmp_path) == codec
    file = (codec / "config.json").resolve()
    file.write_bytes(b"{?}")
    with pytest.raises(HubError, match="is damaged; delete it"):
        find_codec("someone/else", tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_download_is_an_error(name: str, hub_cache: Path) -> None:
    blob = (fill(hub_cache, "someone/else") / name).resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"?")
    with pytest.raises(HubError, match="is damaged; delete it"):
        fetch("someone/else")


def test_offline_and_not_cached_says_what_is_missing(hub_cache: Path) -> None:
    with pytest.raises(HubError, match="Qwen/x is not on this machine") as raised:
        fetch("Qwen/x")
    assert "HF_HUB_OFFLINE forbids it" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["nonsense", "a/b/c", Path("owner/name")])
def test_what_nothing_is_called_lists_the_published(name: str | Path, tmp_path: Path) -> None:
    assert local(name, tmp_path) is None
    with pytest.raises(HubError, match=r"published models are 0\.6b-base, 0\.6b-customvoice"):
        hub_id(name)


def test_foreign_gguf_files_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    path = folder / "qwen-talker-0.6b-base-Q8_0.gguf"
    key = "qwen3-tts.code_pred.embedding_length"
    gguf.write(path, {"general.architecture": "qwen3-tts", key: 1024}, [])
    for source in (path, folder):
        with pytest.raises(gguf.GGUFError, match=r"qwentts\.cpp layout"):
            local(source, tmp_path)
