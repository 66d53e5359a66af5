"""The user's own pronunciations."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.tts.text import Lexicon, LexiconError, speakable


def test_words_are_respelled_whole_and_in_any_case() -> None:
    lexicon = Lexicon({"nginx": "engine x", "GIF": "jif"})
    assert speakable("Nginx, nginxes, GIF, gif.", "en", lexicon).text == (
        "engine x, nginxes, jif, gif."
    )


def test_a_phrase_wins_over_its_words() -> None:
    lexicon = Lexicon({"new": "noo", "new york": "noo yawk"})
    assert speakable("new York new", "en", lexicon).text == "noo yawk noo"


def test_a_file_has_a_word_on_each_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# names\nGeis = Guice  # like rice\n\nnaïve=nah eve\n", encoding="utf-8")
    assert speakable("Geis is naïve", "en", Lexicon.read(path)).text == "Guice is nah eve"


@pytest.mark.parametrize("line", ["word", "= x", "word ="])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text(f"a = b\n{line}\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"words\.txt:2: expected 'word = respelling'"):
        Lexicon.read(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"none\.txt: cannot be read"):
        Lexicon.read(tmp_path / "none.txt")
