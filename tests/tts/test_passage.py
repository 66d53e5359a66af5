"""What one synthesis call speaks, taken from the stage's channel."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from s2s.core.channel import Channel
from s2s.core.messages import (
    AssistantText,
    EndOfResponse,
    Ends,
    ResponseId,
    ToolCall,
    TtsInput,
    TtsMessage,
)
from s2s.llm.sentences import WordStream
from s2s.tts.passage import (
    ENOUGH_CHARS,
    MAX_CHARS,
    Passage,
    Texts,
    take_waiting,
    wait_for_clause,
)
from tests.support.patience import PATIENCE_S

RESPONSE = ResponseId("t", 0, 0, "r")
END = EndOfResponse(RESPONSE)
SENTENCE = "The whales that live in the sea are very large and also very old. "


class Bench:
    """A channel, and the passages read from it. What a reader waits for comes then: `later`."""

    def __init__(self, *later: TtsMessage) -> None:
        self.inbox: Channel[TtsMessage] = Channel(999)
        self.texts: Texts = deque()
        self.later = list(later)
        self.waited = 0

    @contextmanager
    def waits(self) -> Iterator[None]:
        self.waited += 1
        self.inbox.put(self.later.pop(0))
        yield

    def passage(self, first: TtsInput, language: str = "en") -> Passage:
        return Passage(first, self.inbox, language, None, self.texts, self.waits)


def words(text: str) -> list[TtsInput]:
    """The pieces of an answer, as the language model's stage gives them."""
    stream = WordStream()
    return [piece(each.text, each.ends) for each in (*stream.push(text), *stream.flush())]


def piece(text: str, ends: Ends = Ends.WORD, language: str | None = "en") -> TtsInput:
    return TtsInput(text, RESPONSE, language, 0.0, ends=ends)


def read_all(passage: Passage) -> list[str]:
    return list(iter(lambda: passage.read(lambda: False) or "", ""))


def test_a_passage_reads_what_waits_then_waits_for_more_until_the_end() -> None:
    first, second, third, *rest = words("Whales live in all of the seas, I think.")
    bench = Bench(*rest, END)
    bench.inbox.put(second)
    bench.inbox.put(third)
    passage = bench.passage(first)
    assert not passage.quiet
    assert passage.read(lambda: False) == "Whales live in "
    said = read_all(passage)
    assert "Whales live in " + "".join(said) == "Whales live in all of the seas, I think."
    assert len(said) > 3
    assert bench.waited == len(rest) + 1
    assert passage.text == passage.original == "Whales live in all of the seas, I think."
    assert len(bench.inbox) == 1  # the end is not its own
    assert not passage.quiet


def test_what_stands_between_the_pieces_is_told_before_they_are_spoken() -> None:
    told = AssistantText("all ", RESPONSE)
    called = ToolCall("lamp", "{}", RESPONSE)
    bench = Bench(told, piece("of "), called, piece("them "), END)
    read_all(bench.passage(piece("Whales live in all ")))
    assert list(bench.texts) == [told, called]


def test_a_passage_ends_with_the_sentence_in_which_it_is_long_enough() -> None:
    first, *rest = words(SENTENCE * 6)
    bench = Bench(*rest)
    passage = bench.passage(first)
    read_all(passage)
    assert passage.original == SENTENCE * -(-ENOUGH_CHARS // len(SENTENCE))
    assert bench.later[0].text == "The "  # pyright: ignore[reportAttributeAccessIssue]


def test_a_sentence_that_is_too_long_ends_with_a_clause_or_else_a_word() -> None:
    for mark, longest in ((",", MAX_CHARS + 10), ("", 1.2 * MAX_CHARS + 10)):
        first, *rest = words(f"whales and more{mark} " * 40)
        passage = Bench(*rest).passage(first)
        read_all(passage)
        assert MAX_CHARS <= len(passage.original) < longest
        assert passage.original.endswith(f"more{mark} ") or not mark


def test_another_answer_another_language_and_another_script_are_left() -> None:
    other = ResponseId("t", 0, 0, "other")
    for next_one in (
        TtsInput("More ", other, "en", 0.0),
        AssistantText("More ", other),
        piece("Mehr ", language="de"),
        piece("我们去公园", language=None),
        TtsInput("Sorry.", RESPONSE, "en", 0.0, system_note=True),
    ):
        bench = Bench()
        bench.inbox.put(next_one)
        passage = bench.passage(piece("Whales live in all "))
        assert "".join(read_all(passage)) == "Whales live in all"
        assert len(bench.inbox) == 1
        assert not bench.waited


def test_a_stale_or_closed_passage_gives_nothing_more() -> None:
    bench = Bench()
    passage = bench.passage(piece("Whales live in all "))
    assert passage.read(lambda: True) is None
    passage.close()
    passage.close()
    assert passage.read(lambda: False) is None


def test_closing_wakes_a_reader_that_waits() -> None:
    inbox: Channel[TtsMessage] = Channel(9)
    waiting, read = threading.Event(), list[str | None]()

    @contextmanager
    def waits() -> Iterator[None]:
        waiting.set()
        yield

    passage = Passage(piece("Now "), inbox, "en", None, deque(), waits)
    thread = threading.Thread(target=lambda: read.append(passage.read(lambda: False)))
    thread.start()
    assert waiting.wait(PATIENCE_S)
    passage.close()
    thread.join(PATIENCE_S)
    assert read == [None]


def test_a_channel_that_is_closed_ends_it() -> None:
    bench = Bench()
    bench.inbox.close()
    passage = Passage(piece("Now "), bench.inbox, "en", None, deque(), lambda: _nothing())
    assert passage.read(lambda: False) is None


@contextmanager
def _nothing() -> Iterator[None]:
    yield


# --- for voices that want whole texts ------------------------------------------------------------


def test_words_wait_for_the_end_of_their_clause() -> None:
    first, *rest = words("Whales live in all of the seas, I think. More of it.")
    inbox: Channel[TtsMessage] = Channel(99)
    texts: Texts = deque()
    inbox.put(AssistantText("x", RESPONSE))
    for each in rest:
        inbox.put(each)
    whole = wait_for_clause(first, inbox, texts, lambda: False)
    assert (whole.text, whole.ends) == ("Whales live in all of the seas, ", Ends.CLAUSE)
    assert len(texts) == 1
    assert take_waiting(whole, inbox, texts, 99.0)[0].text == "I "


def test_words_wait_no_longer_than_their_answer() -> None:
    inbox: Channel[TtsMessage] = Channel(9)
    inbox.put(END)
    first = piece("Whales live ")
    assert wait_for_clause(first, inbox, deque(), lambda: False) == first
    assert wait_for_clause(first, inbox, deque(), lambda: True) == first
