"""llama.cpp's own server answers, through a proxy that breaks what it is told to break.

An answer is whole or a failure that is told, and the next one is well. In full with
`--require faults`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from s2s.llm.base import ChatMessage, LlmError
from s2s.llm.openai import OpenAiChat, OpenAiChatConfig
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.testing.simulator import Said, Simulation, tone
from tests.scenarios.conversations import done, heard, statuses
from tests.support.llama_server import Fault, FaultyProxy
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.models
pytest.importorskip("openai")

SYSTEM = ChatMessage("system", "You are a helpful assistant. Answer in one short sentence. " * 3)
QUESTION = "What is the capital of France?"
ASKED = [SYSTEM, ChatMessage("user", QUESTION)]
LONGEST_S = 0.4
"""Wait of a client that gives up; the server, which works meanwhile, is not timed by it."""


@pytest.fixture
def impatient(proxy: FaultyProxy) -> Iterator[OpenAiChat]:
    """A client that gives a silent server up soon."""
    yield from opened(proxy, first_token_timeout_s=LONGEST_S, gap_timeout_s=LONGEST_S)


@pytest.fixture
def patient(proxy: FaultyProxy) -> Iterator[OpenAiChat]:
    yield from opened(proxy, first_token_timeout_s=PATIENCE_S, gap_timeout_s=PATIENCE_S)


def opened(proxy: FaultyProxy, **waits: float) -> Iterator[OpenAiChat]:
    chat = OpenAiChat(
        OpenAiChatConfig(base_url=proxy.base_url, temperature=0.0, seed=1, max_tokens=24, **waits),
        Resources(Store()),
    )
    try:
        yield chat
    finally:
        chat.close()


def answer(chat: OpenAiChat) -> str:
    return "".join(part for part in chat.stream(ASKED) if isinstance(part, str))


@pytest.mark.faults
def test_a_busy_server_is_asked_again(patient: OpenAiChat, proxy: FaultyProxy) -> None:
    first = answer(patient)
    assert "Paris" in first
    proxy.faults = ["429"]
    assert answer(patient) == first
    assert proxy.faults == []


@pytest.mark.faults
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("500", "refused with 500"),
        ("cut", "in the middle"),
        ("malformed", "where JSON was due"),
    ],
)
def test_a_fault_is_told_and_the_next_answer_is_well(
    patient: OpenAiChat, proxy: FaultyProxy, fault: Fault, said: str
) -> None:
    proxy.faults = [fault]
    with pytest.raises(LlmError, match=said):
        answer(patient)
    assert "Paris" in answer(patient)


@pytest.mark.faults
@pytest.mark.parametrize("fault", ["silent", "stall"])
def test_a_server_that_falls_silent_is_given_up(
    impatient: OpenAiChat, patient: OpenAiChat, proxy: FaultyProxy, fault: Fault
) -> None:
    proxy.faults = [fault]
    with pytest.raises(LlmError, match=r"no (token|answer|sign)|nothing|silent|stall"):
        answer(impatient)
    assert "Paris" in answer(patient)


@pytest.mark.faults
def test_an_answer_that_is_not_wanted_any_more_frees_the_server(patient: OpenAiChat) -> None:
    asked = itertools.count()
    parts = list(patient.stream(ASKED, stop=lambda: next(asked) >= 2))
    assert len(parts) <= 2
    assert "Paris" in answer(patient)


def test_what_was_evaluated_is_kept_between_turns(patient: OpenAiChat, proxy: FaultyProxy) -> None:
    first = answer(patient)
    turns = [*ASKED, ChatMessage("assistant", first.strip()), ChatMessage("user", "And of Italy?")]
    assert list(patient.stream(turns))
    timings = proxy.finals[-1]["timings"]
    assert isinstance(timings, dict)
    assert timings["cache_n"] > timings["prompt_n"], timings


def test_a_conversation_survives_a_fault(patient: OpenAiChat, proxy: FaultyProxy) -> None:
    """Whole sessions in simulated time; the server works in real time."""
    proxy.faults = ["cut"]
    asked = [Said(tone(1.5), QUESTION), Said(tone(1.5, hz=140.0), QUESTION)]

    def with_server(models: Models, _: object) -> Models:
        return Models(
            models.vad, models.end_of_turn, models.transcriber, patient, models.synthesizer
        )

    simulation = Simulation(asked, models=with_server).run()
    assert heard(simulation) == [QUESTION] * 2
    assert statuses(simulation) == ["failed", "completed"]
    assert "Paris" in done(simulation)[1].played
