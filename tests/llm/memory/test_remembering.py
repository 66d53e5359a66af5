"""A model with a memory: what it is told, what it promises, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from s2s.core.clock import Clock
from s2s.core.events import Event, Heard, Notice, ResponseDone
from s2s.core.messages import ResponseId, TurnId
from s2s.llm.base import ChatMessage
from s2s.llm.memory.folder import MemoryFolder, MemoryFolderError
from s2s.llm.memory.remembering import (
    MOST_TURNS,
    READ_OUT,
    TOLD,
    MemoryKeeper,
    RememberingChat,
    reply,
)
from s2s.llm.memory.replies import REPLIES
from s2s.llm.memory.requests import memory_request
from s2s.session.models import Models
from s2s.testing.simulator import ModelCosts, Said, ScriptedChat, Simulation, tone
from tests.scenarios.conversations import said_after, statuses

PROMPT = "You are terse."
REMEMBER = "remember that my cat is called Mia"


@pytest.fixture
def memory(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memory", lambda: date(2026, 11, 30))


class Rig:
    """A model that echoes, with a memory."""

    def __init__(self, memory: MemoryFolder, max_tokens: int = 100) -> None:
        from s2s.core.clock import ManualClock

        costs = ModelCosts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self.model = ScriptedChat(ManualClock(), costs, lambda words: f"model: {words}")
        self.chat = RememberingChat(self.model, memory, PROMPT, max_tokens=max_tokens)

    def ask(self, *said: str, system: str = PROMPT) -> str:
        messages = [ChatMessage("system", system), *(ChatMessage("user", text) for text in said)]
        return "".join(str(part) for part in self.chat.stream(messages))

    @property
    def system(self) -> str:
        """What the model was told before the conversation."""
        return self.model.prompts[-1][0].content


def test_the_model_is_told_the_notes_behind_its_instructions(memory: MemoryFolder) -> None:
    rig = Rig(memory)
    assert rig.ask("hello") == "model: hello"
    assert rig.system == PROMPT
    memory.remember("my cat is called Mia")
    memory.remember("I drink tea")
    rig.ask("hello", system=f"{PROMPT}\n\nEarlier in this conversation: tea.")
    assert rig.system == (
        f"{PROMPT}\n\n{TOLD}\n- I drink tea\n- my cat is called Mia\n\n"
        "Earlier in this conversation: tea."
    )


def test_of_many_notes_the_newest_are_told(memory: MemoryFolder) -> None:
    for number in range(20):
        memory.remember(f"number {number} of a long list of things")
    rig = Rig(memory, max_tokens=60)
    rig.ask("hello")
    told = rig.system.splitlines()[3:]
    assert told[0] == "- number 19 of a long list of things"
    assert 2 <= len(told) <= 6


def test_what_sums_up_old_turns_is_told_nothing(memory: MemoryFolder) -> None:
    memory.remember("my cat is called Mia")
    rig = Rig(memory)
    rig.ask("user: hello", system="Sum up this conversation.")
    assert rig.system == "Sum up this conversation."
    assert rig.ask(f"x\n{REMEMBER}", system="Sum up.") == f"model: x\n{REMEMBER}"


def test_a_request_is_answered_without_the_model(memory: MemoryFolder) -> None:
    rig = Rig(memory)
    assert rig.ask(f"what is this\nPlease {REMEMBER}.") == (
        "I will remember: my cat is called Mia."
    )
    assert rig.model.prompts == []
    assert memory.notes() == [], "it is only promised"


def test_a_folder_that_cannot_be_read_fails_a_request_and_no_other_answer(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"caf\xe9 au lait")
    rig = Rig(MemoryFolder(tmp_path))
    assert rig.ask("hello") == "model: hello"
    with pytest.raises(MemoryFolderError):
        rig.ask("what do you remember")


def answered(memory: MemoryFolder, text: str) -> str:
    request = memory_request(text)
    assert request is not None
    return reply(request, memory.notes(), REPLIES[request.language])


def test_what_is_answered_is_what_is_so(memory: MemoryFolder) -> None:
    assert answered(memory, "What do you remember?") == "I remember nothing."
    assert answered(memory, "Forget about the cat.") == "I remember nothing about that."
    memory.remember("My cat is called Mia")
    memory.remember("I drink tea.")
    assert answered(memory, REMEMBER) == "I remember that already: my cat is called Mia."
    assert answered(memory, "What do you remember?") == (
        "You asked me to remember: I drink tea; My cat is called Mia."
    )
    assert answered(memory, "What do you remember about my cat?") == (
        "You asked me to remember: My cat is called Mia."
    )
    assert answered(memory, "Forget about the cat.") == "I have forgotten: My cat is called Mia."
    assert answered(memory, "Vergiss alles.") == "Ich habe alles vergessen."


def test_nobody_is_read_a_book(memory: MemoryFolder) -> None:
    for number in range(READ_OUT + 3):
        memory.remember(f"note {number}")
    assert answered(memory, "What do you remember?").endswith("; note 3. And 3 more.")


# --- what is kept ---------------------------------------------------------------------------------


class Session:
    """The events of a session, and who keeps what it is asked for."""

    def __init__(self, memory: MemoryFolder) -> None:
        self.told: list[Event] = []
        self.changes = 0
        self.keeper = MemoryKeeper(memory, self.told.append, self.changed)

    def changed(self) -> None:
        self.changes += 1

    def turn(self, text: str, status: str = "completed", number: int = 0) -> None:
        turn = TurnId(f"t-{number}", 0)
        self.keeper.on_event(Heard(turn, text, final=True))
        self.done(number, status)

    def done(self, number: int = 0, status: str = "completed") -> None:
        response = ResponseId(f"t-{number}", 0, 0, "r")
        self.keeper.on_event(ResponseDone(response, status, ""))  # pyright: ignore[reportArgumentType]


def test_what_was_heard_to_its_end_is_kept_and_forgotten(memory: MemoryFolder) -> None:
    session = Session(memory)
    session.turn(REMEMBER)
    session.turn("remember that I drink tea")
    assert [note.text for note in memory.notes()] == ["I drink tea", "My cat is called Mia"]
    assert session.changes == 2
    session.turn("forget about the tea")
    assert [note.text for note in memory.notes()] == ["My cat is called Mia"]
    (memory.path / "mine.md").write_text("- I live in Rome\n")
    session.turn("forget everything")
    assert [note.text for note in memory.notes()] == ["I live in Rome"], "what one wrote stays"
    assert session.told == []


@pytest.mark.parametrize("status", ["cancelled", "failed", "incomplete"])
def test_what_was_interrupted_is_not(memory: MemoryFolder, status: str) -> None:
    session = Session(memory)
    session.turn(REMEMBER, status)
    assert memory.notes() == []
    assert session.told == [Notice("interrupted: nothing was remembered")]
    session.done()
    assert memory.notes() == [], "once and for all"


def test_words_that_are_not_final_ask_for_nothing(memory: MemoryFolder) -> None:
    session = Session(memory)
    session.keeper.on_event(Heard(TurnId("t-0", 0), REMEMBER, final=False))
    session.done()
    session.turn(REMEMBER, number=1, status="completed")
    session.keeper.on_event(Heard(TurnId("t-2", 0), REMEMBER, final=True))
    session.keeper.on_event(Heard(TurnId("t-2", 1), "what time is it", final=True))
    session.done(2)
    assert len(memory.notes()) == 1


def test_turns_without_an_answer_do_not_grow(memory: MemoryFolder) -> None:
    session = Session(memory)
    for number in range(MOST_TURNS + 1):
        session.keeper.on_event(Heard(TurnId(f"t-{number}", 0), REMEMBER, final=True))
    session.done(0)
    assert memory.notes() == []
    session.done(1)
    assert len(memory.notes()) == 1


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    session = Session(MemoryFolder(tmp_path / "file"))
    session.turn(REMEMBER)
    [notice] = session.told
    assert isinstance(notice, Notice)
    assert "memory.folder" in notice.text
    assert session.changes == 0


# --- whole conversations --------------------------------------------------------------------------


def conversation(memory: MemoryFolder, said: list[Said]) -> Simulation:
    """One with a memory that is kept as it goes."""
    simulation = Simulation(said, answer=lambda words: f"You said {words}.")

    def with_memory(models: Models, _: Clock) -> Models:
        system = simulation.config.system_prompt
        chat = RememberingChat(models.chat, memory, system, max_tokens=100)
        return replace(models, chat=chat)

    class Events(list[tuple[float, Event]]):
        """Tells the keeper of each event, as a session does."""

        def append(self, item: tuple[float, Event], /) -> None:
            super().append(item)
            keeper.on_event(item[1])

    events = Events()
    keeper = MemoryKeeper(memory, lambda event: list.append(events, (0.0, event)))
    simulation.events = events
    simulation.models = with_memory
    return simulation.run()


def texts(memory: MemoryFolder) -> list[str]:
    return [note.text for note in memory.notes()]


def test_it_is_remembered_and_told_to_the_model_of_the_next_turn(memory: MemoryFolder) -> None:
    said = [Said(tone(1.5), REMEMBER), Said(tone(1.2, 210.0), "what is my cat called")]
    simulation = conversation(memory, said)
    assert statuses(simulation) == ["completed", "completed"]
    assert texts(memory) == ["My cat is called Mia"]
    assert simulation.chat.prompts[-1][0].content.endswith("- My cat is called Mia")
    assert len(simulation.chat.prompts) == 1, "the model was not asked for the first answer"


def test_a_turn_that_goes_on_is_remembered_whole_and_once(memory: MemoryFolder) -> None:
    said = [
        Said(tone(1.5), "remember that my cat"),
        said_after(0.35, "is called Mia", 0.8),
    ]
    conversation(memory, said)
    assert texts(memory) == ["My cat is called Mia"]


def test_a_promise_that_is_interrupted_is_not_kept(memory: MemoryFolder) -> None:
    long = f"{REMEMBER} and that my dog is called Max and that they both like to sleep all day"
    said = [Said(tone(1.5), long), said_after(4.0, "no wait what about lunch", 1.5)]
    simulation = conversation(memory, said)
    assert statuses(simulation)[0] == "cancelled"
    assert texts(memory) == []
    notices = [event for _, event in simulation.events if isinstance(event, Notice)]
    assert Notice("interrupted: nothing was remembered") in notices
