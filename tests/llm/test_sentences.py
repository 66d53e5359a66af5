"""Segmentation of a token stream: one test a rule, and the promises that hold for any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.messages import Ends
from s2s.llm.sentences import MAX_CHARS, SentenceStream, TextPiece, WordStream, count_words


def texts(pieces: list[TextPiece]) -> list[str]:
    return [piece.text for piece in pieces]


def cut(text: str) -> list[str]:
    """The pieces of `text`, pushed character by character."""
    return texts(cut_by(SentenceStream(), text))


def cut_by(stream: SentenceStream, text: str) -> list[TextPiece]:
    pieces: list[TextPiece] = []
    for char in text:
        pieces += stream.push(char)
    return pieces + stream.flush()


def later(text: str) -> list[str]:
    """The pieces of `text` as they come after the first piece."""
    return cut("This one is first. " + text)[1:]


def test_the_first_piece_leaves_at_the_first_clause_of_four_words() -> None:
    stream = SentenceStream()
    assert texts(stream.push("Well, of course I can, my")) == ["Well, of course I can, "]


def test_a_clause_of_three_words_does_not_leave() -> None:
    assert cut("Of course, yes, I can do that.") == ["Of course, yes, I can do that."]


def test_short_sentences_wait_for_four_words() -> None:
    assert cut("Sure! I can help. Now?")[0] == "Sure! I can help. "


def test_later_pieces_are_sentences() -> None:
    assert later("First, this and that. Second! Third? Last") == [
        "First, this and that. ",
        "Second! ",
        "Third? ",
        "Last",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith met Mr. and Mrs. Jones on Elm St. near Mt. Fuji. ",
        "It costs $3.14, i.e. about 3.50 with tax, approx. 12 percent. ",
        "J. R. R. Tolkien wrote it in the U.S. of the time. ",
        "See https://example.com/a.b?c=d.e and mail me.you@x.org now. ",
        "Version 1.2.3 is out, e.g. for macOS. ",
        "Well... maybe it is so. ",
        "Wait… maybe it is so. ",
        "Meet me at 5 p.m. sharp. ",
        '"Really?" she asked him. ',
        "Am 3. Oktober ist z.B. frei. ",
        "Is it one (or two?) of them. ",
    ],
)
def test_no_cut_inside(sentence: str) -> None:
    assert later(sentence + "Next one.") == [sentence, "Next one."]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("So do I. And you?", ["So do I. ", "And you?"]),
        ("She left at 5 p.m. Then he came.", ["She left at 5 p.m. ", "Then he came."]),
        ("Apples, pears, etc. They fell.", ["Apples, pears, etc. ", "They fell."]),
        ('He said "no." She left.', ['He said "no." ', "She left."]),
        ('Was it? "Yes." Good.', ["Was it? ", '"Yes." ', "Good."]),
        ("What?! No way.", ["What?! ", "No way."]),
        ("It fell... Then it rose.", ["It fell... ", "Then it rose."]),
        ("lower case ends. so does this.", ["lower case ends. ", "so does this."]),
        ("**Bold.** Plain.", ["**Bold.** ", "Plain."]),
        ("I said no. Then no. 5 came.", ["I said no. ", "Then no. 5 came."]),
        ("It was 1984. We left.", ["It was 1984. ", "We left."]),
    ],
)
def test_cut_between(text: str, pieces: list[str]) -> None:
    assert later(text) == pieces


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("你好。今天天气不错，要出门吗？去！", ["你好。今天天气不错，", "要出门吗？", "去！"]),
        (
            "「本当にそうですか？」と彼は聞いた。はい。",
            ["「本当にそうですか？」", "と彼は聞いた。", "はい。"],
        ),
        ("यह एक अच्छा दिन है। आप कैसे हैं?", ["यह एक अच्छा दिन है। ", "आप कैसे हैं?"]),
        ("هل أنت بخير اليوم؟ نعم، أنا بخير.", ["هل أنت بخير اليوم؟ ", "نعم، أنا بخير."]),
    ],
)
def test_other_scripts_are_cut_at_their_own_marks(text: str, pieces: list[str]) -> None:
    assert cut(text) == pieces


def test_a_list_number_belongs_to_its_item() -> None:
    text = "These are the steps:\n1. Take it.\n2. Go"
    assert cut(text) == ["These are the steps:\n", "1. Take it.\n", "2. Go"]


def test_a_number_after_a_clause_is_no_list_number() -> None:
    assert cut("As I said before, 42. Then 43.") == ["As I said before, ", "42. ", "Then 43."]


def test_list_items_and_paragraphs_are_sentences() -> None:
    text = "These are four things:\n- milk\n- eggs\n\nThat is all"
    assert cut(text) == ["These are four things:\n", "- milk\n", "- eggs\n\n", "That is all"]


def test_a_table_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n| c. d | e |\n\n"
    assert later(table + "Done.") == [table, "Done."]


def test_code_fences_stay_whole() -> None:
    fence = "```python\nprint('A. B')\n\n# Why? Because!\n```\n"
    assert cut(f"Here is your code now:\n{fence}Done.") == [
        "Here is your code now:\n",
        fence,
        "Done.",
    ]


@pytest.mark.parametrize(
    "text",
    ["See [the docs. Really](http://a.b/c d. e) now. ", "Call `a. B` for it. "],
)
def test_links_and_inline_code_stay_whole(text: str) -> None:
    assert later(text + "Next.") == [text, "Next."]


@pytest.mark.parametrize("opener", ["[", "`", "[x]("])
def test_markup_that_never_closes_does_not_hold_the_answer(opener: str) -> None:
    text = f"An {opener} left open. " + "So it goes on and on. " * 60
    assert len(cut(text)) > 10


def test_a_sentence_without_end_is_cut_at_a_clause_or_space() -> None:
    clauses = cut("word " * 50 + "and a clause, " + "word " * 60)
    assert clauses[1].endswith("clause, ") or clauses[0].endswith("clause, ")
    words = later("word " * 200)
    assert all(len(piece) <= MAX_CHARS for piece in words)
    assert all(piece.endswith(" ") for piece in words)
    assert all(len(piece) <= 2 * MAX_CHARS for piece in later("x" * 2000))


def test_a_stream_starts_afresh_after_flush() -> None:
    stream = SentenceStream()
    stream.push("`open")
    assert texts(stream.flush()) == ["`open"]
    assert stream.flush() == []
    assert texts(stream.push("One two three four. F")) == ["One two three four. "]


def test_bad_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="first_clause_words 0"):
        SentenceStream(first_clause_words=0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("**Well** - it's 3 o'clock!", 4),
        ("कैसे हैं", 2),
        ("今天天气", 2),
        ("你好吗", 2),
        ("OK 好的", 2),
    ],
)
def test_count_words(text: str, words: int) -> None:
    assert count_words(text) == words


FRAGMENT_TEXT = """
Mr. Dr. e.g. 3.14 $5 http://a.b/c? a, b; c: ... … . ? ! ?! 。 ！ ， । ؟ ``` ` [ ] ]( ) **x** * - |
1. J. I U.S. p.m. 你 好 का ไทย ก “ ” " ' 「 」 — -- word Word
"""
FRAGMENTS = FRAGMENT_TEXT.split()
PROSE = st.lists(
    st.sampled_from([*FRAGMENTS, "\n", " \n\n"]) | st.text(max_size=4), max_size=60
).map(" ".join) | st.text(max_size=120)


@settings(max_examples=400, deadline=None)
@given(text=PROSE, data=st.data())
def test_any_chunking_gives_the_same_pieces_which_join_to_the_text(
    text: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    for stream, again in ((SentenceStream(), SentenceStream()), (WordStream(), WordStream())):
        pieces: list[TextPiece] = []
        for chunk in chunks:
            pieces += stream.push(chunk)
        pieces += stream.flush()
        assert pieces == cut_by(again, text)
        assert "".join(texts(pieces)) == text
        assert all(texts(pieces))


# --- what is over where a piece ends, and words --------------------------------------------------


def test_a_piece_says_whether_a_sentence_is_over() -> None:
    pieces = cut_by(SentenceStream(), "Well, of course I can, my friend. Second one. And")
    assert [piece.ends for piece in pieces] == [Ends.CLAUSE, *[Ends.SENTENCE] * 3]
    long = cut_by(SentenceStream(max_chars=10), "First one of them. " + "words and words" * 2)
    assert (long[0].text, long[0].ends) == ("First one ", Ends.WORD)


def test_words_leave_one_by_one_after_the_first_four() -> None:
    pieces = cut_by(WordStream(), "Yes. I can do that, of course. Now")
    assert texts(pieces) == ["Yes. I can do ", "that, ", "of ", "course. ", "Now"]
    assert [piece.ends for piece in pieces] == [
        Ends.WORD, Ends.CLAUSE, Ends.WORD, Ends.SENTENCE, Ends.SENTENCE,
    ]  # fmt: skip


def test_no_word_leaves_out_of_a_link_or_code() -> None:
    pieces = texts(cut_by(WordStream(), "One two three four [a b](c d) five `x y z` six"))
    assert pieces[1:] == ["[a b](c d) ", "five ", "`x y z` ", "six"]


def test_scripts_without_spaces_leave_by_clauses() -> None:
    pieces = cut_by(WordStream(), "今天天气真的很好，我们去公园。好吗？")
    assert texts(pieces) == ["今天天气真的很好，", "我们去公园。", "好吗？"]
    assert [piece.ends for piece in pieces] == [Ends.CLAUSE, Ends.SENTENCE, Ends.SENTENCE]
