"""A GGUF model in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from s2s.core.work import Unlimited
from s2s.llm import llama, llama_engine
from s2s.llm.base import ChatMessage, LlmError, Urgency
from s2s.llm.llama import LlamaChat, LlamaConfig, gguf_file, where_computed
from s2s.llm.llama_engine import ChatRequest, LlamaEngine, Take
from s2s.models.resources import Resources
from s2s.system.llama_context import CardUse

SYSTEM = ChatMessage("system", "You are a voice assistant. Answer in one short sentence.")
ASKED = [SYSTEM, ChatMessage("user", "What is the capital of France?")]
LONG = [SYSTEM, ChatMessage("user", "Tell me a very long story about a dragon.")]


# --- without a model ---------------------------------------------------------------------------


class ScriptedEngine:
    """An engine whose answer is scripted."""

    card = CardUse()

    def __init__(self, answer: Callable[[Take], None]) -> None:
        self.answer = answer
        self.evaluated: list[ChatRequest] = []
        self.closed = 0

    def generate(self, request: ChatRequest, take: Take, work: Urgency) -> None:
        self.answer(take)

    def evaluate(self, request: ChatRequest) -> None:
        self.evaluated.append(request)

    def ending(self, request: ChatRequest) -> float | None:
        return float(len(request.messages))

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def chat(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[LlamaChat, ScriptedEngine]]:
    class Folder:
        def path(self, name: str) -> Path:
            return tmp_path

    (tmp_path / "a.gguf").touch()

    def make(answer: Callable[[Take], None], **options: float) -> tuple[LlamaChat, ScriptedEngine]:
        engine = ScriptedEngine(answer)
        monkeypatch.setattr(llama, "LlamaEngine", lambda *_, **__: engine)
        config = LlamaConfig(**options)  # pyright: ignore[reportArgumentType]
        return LlamaChat(config, Resources(Folder())), engine  # pyright: ignore

    return make


def test_pieces_come_in_order_and_none_is_empty(chat) -> None:
    def answer(take: Take) -> None:
        for piece in ("", "One", " two", "", "."):
            assert not take(piece)

    model, _ = chat(answer)
    assert list(model.stream(ASKED)) == ["One", " two", "."]


def test_the_words_are_judged_as_they_are_answered(chat) -> None:
    model, _ = chat(lambda take: None)
    assert model.ending(ASKED) == len(ASKED)


def test_stop_ends_the_generation_at_the_next_token(chat) -> None:
    taken: list[bool] = []

    def answer(take: Take) -> None:
        while not taken or not taken[-1]:
            taken.append(take("x"))

    heard: list[str] = []
    model, _ = chat(answer)
    for piece in model.stream(ASKED, stop=lambda: len(heard) >= 3):
        heard.append(piece)  # noqa: PERF402 - `stop` reads it meanwhile
    assert heard == ["x"] * 3
    assert taken[-1]


def test_stop_is_asked_while_the_prompt_is_evaluated(chat) -> None:
    ended: list[bool] = []
    model, _ = chat(lambda take: ended.append(take("")))
    assert list(model.stream(ASKED, stop=lambda: True)) == []
    assert ended == [True]


def test_closing_the_iterator_ends_the_generation_before_it_returns(chat) -> None:
    ended = threading.Event()

    def answer(take: Take) -> None:
        while not take("x"):
            pass
        ended.set()

    model, _ = chat(answer)
    pieces = model.stream(ASKED)
    assert next(pieces) == "x"
    pieces.close()
    assert ended.is_set()


def test_an_error_surfaces_after_the_pieces_before_it(chat) -> None:
    def answer(take: Take) -> None:
        take("One")
        raise LlmError("the graph broke")

    model, _ = chat(answer)
    pieces = model.stream(ASKED)
    assert next(pieces) == "One"
    with pytest.raises(LlmError, match="the graph broke"):
        next(pieces)


def test_a_model_that_gives_nothing_is_given_up(chat) -> None:
    never = threading.Event()

    def answer(take: Take) -> None:
        never.wait()

    model, _ = chat(answer, timeout_s=0.05)
    with pytest.raises(LlmError, match=r"no token for 0\.05 s"):
        list(model.stream(ASKED))
    never.set()


def test_warming_opens_the_users_message(chat) -> None:
    model, engine = chat(lambda take: None)
    model.warm([SYSTEM])
    model.warm(ASKED)
    assert [request.messages for request in engine.evaluated] == [
        (SYSTEM, ChatMessage("user", "")),
        tuple(ASKED),
    ]


def test_close_is_idempotent_and_final(chat) -> None:
    model, engine = chat(lambda take: None)
    model.close()
    model.close()
    assert engine.closed == 1
    with pytest.raises(LlmError, match="closed"):
        list(model.stream(ASKED))


@pytest.mark.parametrize(
    "options",
    [{"context_tokens": 64}, {"max_tokens": 0}, {"temperature": -1.0}, {"max_tokens": 4096}],
)
def test_options_that_make_no_sense(chat, options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        chat(lambda take: None, **options)


def test_one_file_is_found_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(LlmError, match="found none"):
        gguf_file(tmp_path)
    (tmp_path / "a.gguf").touch()
    assert gguf_file(tmp_path) == tmp_path / "a.gguf" == gguf_file(tmp_path / "a.gguf")
    (tmp_path / "b.gguf").touch()
    with pytest.raises(LlmError, match=r"a\.gguf, b\.gguf"):
        gguf_file(tmp_path)


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(llama_engine, "installed", list)
    for engine in ("auto", "xllamacpp", "llama-cpp-python"):
        with pytest.raises(LlmError, match="pip install"):
            LlamaEngine(
                engine,
                tmp_path,
                threads=1,
                compute=Unlimited(),
                context_tokens=256,
                gpu_layers=0,
                chat_template=None,
            )


# --- with the model ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm(resources: Resources) -> Iterator[LlamaChat]:
    pytest.importorskip("xllamacpp")
    config = LlamaConfig(engine="xllamacpp", max_tokens=24, seed=1, context_tokens=1024)
    model = LlamaChat(config, resources)
    yield model
    model.close()


@pytest.mark.models
def test_it_answers_and_repeats_itself_with_a_seed(smollm: LlamaChat) -> None:
    answer = "".join(smollm.stream(ASKED))
    assert len(answer.split()) >= 3
    assert "".join(smollm.stream(ASKED)) == answer


@pytest.mark.models
def test_it_is_free_at_once_after_a_stop(smollm: LlamaChat) -> None:
    whole = list(smollm.stream(LONG))
    assert len(whole) > 10
    pieces = smollm.stream(LONG)
    assert next(pieces) == whole[0]
    pieces.close()  # pyright: ignore[reportAttributeAccessIssue]
    heard: list[str] = []
    for piece in smollm.stream(LONG, stop=lambda: len(heard) >= 2):
        heard.append(piece)  # noqa: PERF402 - `stop` reads it meanwhile
    assert heard == whole[:2]
    assert "".join(smollm.stream(ASKED))


@pytest.mark.models
def test_a_conversation_that_does_not_fit(smollm: LlamaChat) -> None:
    long = [SYSTEM, ChatMessage("user", "word " * 2_000)]
    with pytest.raises(LlmError, match=r"has 20\d\d tokens and the model's context 1024"):
        list(smollm.stream(long))
    with pytest.raises(LlmError, match="context 1024"):
        smollm.warm(long)
    assert "".join(smollm.stream(ASKED))


@pytest.mark.models
def test_a_long_prompt_can_be_stopped(smollm: LlamaChat) -> None:
    asked = [0]

    def stop() -> bool:
        asked[0] += 1
        return asked[0] > 2

    long = [SYSTEM, ChatMessage("user", "word " * 700)]
    assert list(smollm.stream(long, stop=stop)) == []
    assert asked[0] <= 4


@pytest.mark.models
def test_tokens_are_counted_exactly(smollm: LlamaChat) -> None:
    assert smollm.count_tokens("") == 0
    assert smollm.count_tokens("Hello there, world") == 4
    assert smollm.count_tokens("word " * 100) == pytest.approx(101, abs=1)


@pytest.mark.models
def test_calls_from_several_threads_take_turns(smollm: LlamaChat) -> None:
    expected = "".join(smollm.stream(ASKED))
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append("".join(smollm.stream(ASKED))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 3


@pytest.mark.models
def test_a_file_that_is_no_model(resources: Resources, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(LlmError, match=r"broken\.gguf cannot be loaded"):
        LlamaChat(LlamaConfig(model=str(broken), engine="xllamacpp"), resources)


def test_a_graphics_card_is_said_and_why_none_takes_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert where_computed("m.gguf", CardUse()) == ""
    assert where_computed("m.gguf", CardUse(card="RTX 9")) == "llama: m.gguf on RTX 9"
    assert caplog.text == ""
    refused = CardUse(refused="RTX 9 does not take it: out of memory")
    assert where_computed("m.gguf", refused) == (
        "llama: m.gguf on the processor (RTX 9 does not take it: out of memory)"
    )
    assert "out of memory" in caplog.text
