"""Memory on disk: read by people, written whole, by two programs at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import pytest

from s2s.llm.memory.folder import (
    FILE,
    HEADING,
    LONGEST_CHARS,
    MOST_BYTES,
    MemoryFolder,
    MemoryFolderError,
    about,
    note_text,
)

DAY = date(2026, 11, 30)


@pytest.fixture
def memory(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memory", lambda: DAY)


def texts(memory: MemoryFolder) -> list[str]:
    return [note.text for note in memory.notes()]


def test_what_is_remembered_is_a_line_of_a_file_that_people_read(memory: MemoryFolder) -> None:
    assert memory.notes() == []
    assert not memory.path.exists()
    assert memory.remember("My cat is called Mia.")
    assert memory.remember("I drink  tea\nat five.")
    assert memory.own_file.read_text(encoding="utf-8") == (
        f"{HEADING}\n\n- 2026-11-30: My cat is called Mia.\n- 2026-11-30: I drink tea at five.\n"
    )
    assert texts(memory) == ["I drink tea at five.", "My cat is called Mia."], "the newest first"


@pytest.mark.skipif(sys.platform == "win32", reason="modes of Unix")
def test_nobody_else_reads_it(memory: MemoryFolder) -> None:
    memory.remember("x")
    assert memory.path.stat().st_mode & 0o777 == 0o700
    assert memory.own_file.stat().st_mode & 0o777 == 0o600
    memory.own_file.chmod(0o640)
    memory.remember("y")
    assert memory.own_file.stat().st_mode & 0o777 == 0o640, "as its owner wants it"


def test_the_same_is_not_remembered_twice(memory: MemoryFolder) -> None:
    assert memory.remember("I drink tea")
    assert not memory.remember("i drink TEA.")
    assert not memory.remember("  ")
    assert texts(memory) == ["I drink tea"]


def test_files_of_ones_own_are_read_and_never_written_by_remembering(memory: MemoryFolder) -> None:
    memory.remember("newest")
    mine = memory.path / "me.md"
    mine.write_text("# About me\n\nI live in Rome.\n\n* vegetarian\n1. two sons\n- [x] driver\n")
    (memory.path / "other.txt").write_text("no Markdown")
    for file, seconds in ((memory.own_file, 200), (mine, 100)):
        os.utime(file, (seconds, seconds))
    assert texts(memory) == ["newest", "I live in Rome.", "vegetarian", "two sons", "driver"]
    before = mine.read_text()
    memory.remember("more")
    assert mine.read_text() == before


def test_what_is_forgotten_is_gone_and_all_else_as_it_was(memory: MemoryFolder) -> None:
    memory.remember("My cat is called Mia")
    memory.remember("I drink tea")
    mine = memory.path / "me.md"
    mine.write_text("# Me\n\n- cats are nice\n- I live in Rome\n")
    lost = memory.forget(lambda note: about("cat", note.text))
    assert [note.text for note in lost] == ["My cat is called Mia"]
    assert set(texts(memory)) == {"cats are nice", "I live in Rome", "I drink tea"}
    memory.forget(lambda note: note.file == memory.own_file)
    assert not memory.own_file.exists()
    assert memory.forget(lambda _: True) != []
    assert mine.read_text() == "# Me\n\n", "one's own file stays"


def test_to_forget_where_nothing_is_makes_no_folder(memory: MemoryFolder) -> None:
    assert memory.forget(lambda _: True) == []
    assert not memory.path.exists()


def test_a_note_is_cut_before_it_becomes_a_book(memory: MemoryFolder) -> None:
    memory.remember("word " * 1000)
    [text] = texts(memory)
    assert len(text) <= LONGEST_CHARS


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("- 2026-01-02: I drink tea ", "I drink tea"),
        ("  * tea", "tea"),
        ("12) tea", "tea"),
        ("- [ ] tea", "tea"),
        ("tea", "tea"),
        ("1984 was a good year", "1984 was a good year"),
        ("# Tea", ""),
        ("---", ""),
        ("<!-- tea -->", ""),
        ("", ""),
        ("   ", ""),
        ("-", "-"),
    ],
)
def test_what_a_line_notes(line: str, text: str) -> None:
    assert note_text(line) == text


@pytest.mark.parametrize(
    ("what", "note", "meant"),
    [
        ("my cat", "My cat is called Mia", True),
        ("that my cat is called Mia", "My cat is called Mia.", True),
        ("the dog", "My cat is called Mia", False),
        ("cat", "Cats are nice", False),
        ("meine Katzen", "Meine Katze heißt Mia", True),
        ("Mia", "My cat is called Mia", True),
        ("la mia gatta", "La mia gatta si chiama Mia", True),
        ("the", "My cat", False),
        ("", "anything", False),
        ("猫", "我的猫叫米娅", True),
        ("狗", "我的猫叫米娅", False),
        ("고양이", "내 고양이 이름은 미아", True),
    ],
)
def test_a_note_is_meant_by_all_the_words_that_are_said(what: str, note: str, meant: bool) -> None:
    assert about(what, note) is meant


def test_many_threads_lose_no_line(memory: MemoryFolder) -> None:
    def work(name: int) -> None:
        for count in range(10):
            MemoryFolder(memory.path, lambda: DAY).remember(f"{name} said {count}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts(memory)) == 40
    assert sorted(path.name for path in memory.path.iterdir()) == [".lock", FILE]


def test_two_programs_lose_no_line(memory: MemoryFolder) -> None:
    code = (
        "import sys; from pathlib import Path; from s2s.llm.memory.folder import MemoryFolder\n"
        "memory = MemoryFolder(Path(sys.argv[1]))\n"
        "for n in range(10): memory.remember(f'{sys.argv[2]} said {n}')"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, str(memory.path), name])
        for name in ("one", "two")
    ]
    assert [program.wait() for program in programs] == [0, 0]
    assert len(texts(memory)) == 20


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(MemoryFolderError, match=r"choose another with memory\.folder"):
        MemoryFolder(file).remember("x")
    folder = MemoryFolder(tmp_path)
    (tmp_path / "broken.md").write_bytes(b"caf\xe9 au lait")
    with pytest.raises(MemoryFolderError, match=r"broken\.md cannot be read"):
        folder.notes()
    (tmp_path / "broken.md").write_bytes(b"x" * (MOST_BYTES + 1))
    with pytest.raises(MemoryFolderError, match="too large"):
        folder.notes()
