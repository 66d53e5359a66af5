"""llama.cpp token by token: what is shown again, what is kept, and where an answer ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from s2s.core.work import Unlimited, Work
from s2s.llm.base import ChatMessage, LlmError
from s2s.llm.llama_engine import BATCH_TOKENS, ChatRequest, LlamaEngine
from s2s.models.store import Store

ASKED = ChatMessage("user", "What is the capital of France?")


@pytest.fixture(scope="module")
def counted() -> list[int]:
    return []


@pytest.fixture(scope="module")
def engine(resources_path: Path, counted: list[int]) -> Iterator[LlamaEngine]:
    class Counted(Unlimited):
        def threads(self, work: Work, most: int) -> int:
            counted.append(work)
            return super().threads(work, most)

    made = LlamaEngine(
        "auto",
        resources_path,
        threads=1,
        compute=Counted(),
        context_tokens=512,
        gpu_layers=0,
        chat_template=None,
    )
    yield made
    made.close()


@pytest.fixture(scope="module")
def resources_path() -> Path:
    folder = Store().path("smollm2-135m")
    return folder if folder.is_file() else next(folder.glob("*.gguf"))


def request(*messages: ChatMessage, max_tokens: int = 12) -> ChatRequest:
    return ChatRequest(messages, max_tokens, 0.0, 0.9, 1.0, None, ())


def answer(engine: LlamaEngine, asked: ChatRequest, take: Callable[[str], bool] = bool) -> str:
    heard: list[str] = []

    def keep(piece: str) -> bool:
        heard.append(piece)
        return False

    engine.generate(asked, keep)
    return "".join(heard)


@pytest.mark.models
def test_what_was_shown_before_is_not_computed_again(
    engine: LlamaEngine, counted: list[int]
) -> None:
    long = request(ChatMessage("system", "word " * 200), ASKED, max_tokens=1)
    first = answer(engine, long)
    counted.clear()
    assert answer(engine, long) == first
    assert len(counted) <= 2  # the last token of the prompt, and the answer's
    counted.clear()
    engine.evaluate(request(ChatMessage("system", "word " * 200), ChatMessage("user", "Why?")))
    assert len(counted) == 1


@pytest.mark.models
def test_the_cache_changes_no_answer(engine: LlamaEngine) -> None:
    asked = [ChatMessage("user", text) for text in ("Why is the sky blue?", "Who wrote Hamlet?")]
    apart = []
    for each in asked:
        engine.evaluate(request(ChatMessage("user", "x" * 300)))
        apart.append(answer(engine, request(each)))
    assert [answer(engine, request(each)) for each in asked] == apart


@pytest.mark.models
def test_each_conversation_keeps_its_beginning_and_they_are_written_token_by_token_in_turn(
    engine: LlamaEngine, resources_path: Path
) -> None:
    steps: list[int] = []

    class Noted(Unlimited):
        def threads(self, work: Work, most: int) -> int:
            steps.append(threading.get_ident())
            return 1

    both = LlamaEngine(
        "auto",
        resources_path,
        threads=1,
        compute=Noted(),
        context_tokens=512,
        gpu_layers=0,
        chat_template=None,
        slots=2,
    )
    asked = [
        request(ChatMessage("system", f"{word} " * 150), ASKED, max_tokens=24)
        for word in ("red", "blue")
    ]
    apart = [answer(engine, each) for each in asked]
    together = ["", ""]

    begun = threading.Barrier(2, timeout=60)

    def write(place: int) -> None:
        def take(piece: str) -> bool:
            if piece and not together[place]:
                begun.wait()  # each has written when the other has, and neither has ended
            together[place] += piece
            return False

        both.generate(asked[place], take)

    threads = [threading.Thread(target=write, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == apart
    assert both.slots == 2
    steps.clear()
    assert [answer(both, each) for each in asked] == apart
    assert len(steps) <= 2 * 25  # nothing of the beginnings is computed again
    both.close()
    with pytest.raises(LlmError):
        both.evaluate(asked[0])


@pytest.mark.models
def test_threads_are_asked_for_before_every_token(engine: LlamaEngine, counted: list[int]) -> None:
    engine.evaluate(request(ASKED))
    counted.clear()
    answer(engine, request(ASKED, max_tokens=5))
    assert 5 <= len(counted) <= 7
    assert set(counted) == {Work.FIRST_SOUND}


@pytest.mark.models
def test_work_ahead_is_less_urgent(engine: LlamaEngine, counted: list[int]) -> None:
    counted.clear()
    engine.evaluate(request(ChatMessage("user", "Go on.")))
    engine.generate(request(ASKED, max_tokens=3), bool, lambda: Work.SOUND_AHEAD)
    assert counted[0] == Work.TEXT_AHEAD
    assert counted[-1] == Work.SOUND_AHEAD


@pytest.mark.models
def test_a_long_prompt_is_shown_in_batches_that_can_be_stopped(engine: LlamaEngine) -> None:
    asked = [0]

    def stop(piece: str) -> bool:
        asked[0] += 1
        return asked[0] > 2

    engine.generate(request(ChatMessage("user", "word " * (BATCH_TOKENS * 5))), stop)
    assert asked[0] == 3


def ending(engine: LlamaEngine, words: str, *before: ChatMessage) -> float:
    odds = engine.ending(request(*before, ChatMessage("user", words)))
    assert odds is not None
    return odds


@pytest.mark.models
def test_whole_questions_end_and_cut_ones_do_not(engine: LlamaEngine) -> None:
    whole = ["What time is it now?", "Turn off the lights.", "How far away is the moon?"]
    cut = ["What time is", "Turn off the.", "How far away is the?"]
    assert min(ending(engine, each) for each in whole) > max(ending(engine, each) for each in cut)


@pytest.mark.models
def test_what_was_asked_before_makes_a_short_answer_whole(engine: LlamaEngine) -> None:
    before = (
        ChatMessage("user", "Book me a table."),
        ChatMessage("assistant", "For how many people?"),
    )
    assert ending(engine, "Two.", *before) > ending(engine, "Two.")


@pytest.mark.models
def test_judging_the_words_keeps_what_their_answer_needs(
    engine: LlamaEngine, counted: list[int]
) -> None:
    asked = request(ChatMessage("system", "word " * 200), ASKED, max_tokens=1)
    engine.evaluate(asked)
    counted.clear()
    first = ending(engine, ASKED.content, asked.messages[0])
    assert len(counted) == 1, "its last word, for its logits"
    counted.clear()
    answer(engine, asked)
    assert len(counted) <= 2, "the end of the prompt in one go, and the answer's token"
    assert ending(engine, ASKED.content, asked.messages[0]) == first


@pytest.mark.models
def test_the_same_words_are_judged_once_and_take_nothing_from_the_cache(
    engine: LlamaEngine, counted: list[int]
) -> None:
    asked = request(ChatMessage("system", "Be brief."), ASKED, max_tokens=1)
    first = ending(engine, ASKED.content, asked.messages[0])
    engine.evaluate(asked)
    counted.clear()
    assert ending(engine, ASKED.content, asked.messages[0]) == first
    assert ending(engine, f"{ASKED.content} ", asked.messages[0]) == first
    assert not counted
    other = ending(engine, "And what of the", asked.messages[0])
    assert other != first
    assert counted


@pytest.mark.models
def test_words_are_not_judged_while_an_answer_is_written(engine: LlamaEngine) -> None:
    found: list[float | None] = []
    engine.generate(
        request(ASKED, max_tokens=1),
        lambda _: found.append(engine.ending(request(ASKED))) is not None,
    )
    assert found
    assert set(found) == {None}


@pytest.mark.models
def test_nothing_is_said_of_no_words_or_of_words_the_template_does_not_show(
    resources_path: Path, engine: LlamaEngine
) -> None:
    assert engine.ending(request(ChatMessage("user", "?"))) is None
    shouts = LlamaEngine(
        "auto", resources_path, threads=1, compute=Unlimited(), context_tokens=64,
        gpu_layers=0, chat_template="{{ messages[-1].content | upper }}",
    )  # fmt: skip
    assert shouts.ending(request(ASKED)) is None
    with pytest.raises(LlmError, match="tokens"):
        shouts.ending(request(ChatMessage("user", "WORD " * 99)))
    shouts.close()


@pytest.mark.models
def test_control_tokens_count_as_words_where_text_is_counted(engine: LlamaEngine) -> None:
    assert engine.count_tokens("<|im_end|>") > 1


@pytest.mark.models
def test_it_answers_no_more_once_it_is_closed(resources_path: Path) -> None:
    made = LlamaEngine(
        "auto", resources_path, threads=1, compute=Unlimited(), context_tokens=256,
        gpu_layers=0, chat_template="{{ messages[-1].content }}",
    )  # fmt: skip
    assert answer(made, request(ChatMessage("user", "One, two,"), max_tokens=3))
    made.close()
    made.close()
    with pytest.raises(LlmError, match="closed"):
        made.count_tokens("x")


@pytest.mark.models
def test_a_thought_that_the_template_opens_is_opened_in_the_answer(resources_path: Path) -> None:
    for source, begins in (("{{ messages[-1].content }}<think>\n", True), ("<think> I", False)):
        made = LlamaEngine(
            "auto", resources_path, threads=1, compute=Unlimited(), context_tokens=256,
            gpu_layers=0, chat_template=source,
        )  # fmt: skip
        written = answer(made, request(ChatMessage("user", "One, two,"), max_tokens=3))
        made.close()
        assert written.startswith("<think>") == begins


@pytest.mark.models
def test_texts_are_weighed_as_their_tokens_are_and_the_likelier_is_chosen(
    engine: LlamaEngine,
) -> None:
    def weighed(prompt: str, text: str) -> float:
        found = engine.log_probability(prompt, text, lambda: False)
        assert found is not None
        return found

    prompt = "The capital of France is"
    whole = weighed(prompt, " Paris, of course")
    parts = weighed(prompt, " Paris") + weighed(f"{prompt} Paris", ", of course")
    assert whole == pytest.approx(parts, abs=0.15)
    assert weighed(prompt, " Paris\n") > weighed(prompt, " Oslo\n")
    options = [" Oslo\n", " Paris\n", " Paris is not it\n"]
    chosen = engine.choose(prompt, options, lambda: False)
    assert chosen is not None
    assert chosen[0] in (1, 2)
    assert 0.3 < chosen[1] <= 1.0
    assert engine.choose(prompt, options, lambda: True) is None
    assert engine.log_probability(prompt, " Paris", lambda: True) is None
    with pytest.raises(LlmError, match="context"):
        engine.log_probability("long " * 2000, " x", lambda: False)
