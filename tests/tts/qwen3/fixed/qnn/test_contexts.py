"""Compiled graphs are kept by what they were made of, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.qnn.contexts import (
    content_key,
    forget,
    kept_context,
    read_note,
    write_note,
)
from tests.tts.qwen3.fixed.qnn.fake_plugin import write_graph


def test_the_key_is_of_the_graph_its_weights_and_how_it_is_compiled(tmp_path: Path) -> None:
    one, two = write_graph(tmp_path, "one"), write_graph(tmp_path, "two", 2)
    key = content_key([one], "soc57", "1.0")
    assert key == content_key([one], "soc57", "1.0")
    others = [
        content_key([one], "soc60", "1.0"),
        content_key([one], "soc57", "1.1"),
        content_key([two], "soc57", "1.0"),
        content_key([one, two], "soc57", "1.0"),
    ]
    assert len({key, *others}) == 5
    write_graph(tmp_path, "two", 3)
    assert content_key([one], "soc57", "1.0") == key, "it names no data of the other"
    write_graph(tmp_path, "one", 3)
    assert content_key([one], "soc57", "1.0") != key


def test_it_is_compiled_once_and_a_damaged_one_again(tmp_path: Path) -> None:
    graph, made = write_graph(tmp_path, "one"), list[Path]()

    def compile_to(path: Path) -> None:
        made.append(path)
        path.write_text("graph")
        (path.parent / "context_qnn.bin").write_bytes(b"binary" * 100)

    place = tmp_path / "contexts"
    path, fresh = kept_context(place, graph, "0" * 16, compile_to)
    assert fresh
    assert path == place / f"one-{'0' * 16}" / "context.onnx"
    assert kept_context(place, graph, "0" * 16, compile_to) == (path, False)
    binary = path.parent / "context_qnn.bin"
    binary.write_bytes(b"binarz" * 100)
    assert kept_context(place, graph, "0" * 16, compile_to) == (path, True)
    assert binary.read_bytes() == b"binary" * 100
    forget(path)
    assert kept_context(place, graph, "0" * 16, compile_to) == (path, True)
    assert len(made) == 3
    assert path not in made, "written elsewhere and moved in one step"


def test_one_that_fails_leaves_nothing(tmp_path: Path) -> None:
    graph, place = write_graph(tmp_path, "one"), tmp_path / "contexts"

    def compile_to(path: Path) -> None:
        path.write_text("half")
        raise ProviderError("no TopK")

    with pytest.raises(ProviderError, match="no TopK"):
        kept_context(place, graph, "0" * 16, compile_to)
    assert list(place.iterdir()) == []


def test_an_older_one_of_the_same_graph_goes(tmp_path: Path) -> None:
    graph, place = write_graph(tmp_path, "one"), tmp_path / "contexts"

    def compile_to(path: Path) -> None:
        path.write_text("graph")

    kept_context(place, write_graph(tmp_path, "one-more"), "0" * 16, compile_to)
    kept_context(place, graph, "0" * 16, compile_to)
    kept_context(place, graph, "1" * 16, compile_to)
    names = sorted(path.name for path in place.iterdir())
    assert names == [f"one-{'1' * 16}", f"one-more-{'0' * 16}"]


def test_numbers_are_kept_for_their_key(tmp_path: Path) -> None:
    note = tmp_path / "new" / "measured.json"
    assert read_note(note, "a") == {}
    write_note(note, "a", {"snr_db": -float("inf")})
    assert read_note(note, "a") == {"snr_db": -float("inf")}
    assert read_note(note, "b") == {}
    note.write_text("[1")
    assert read_note(note, "a") == {}
    note.write_text("[1]")
    assert read_note(note, "a") == {}
