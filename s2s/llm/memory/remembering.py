"""A language model with a memory: it is told the notes, and requests of the memory are answered for
it.

The answer is given as soon as the words are there, as every answer is; what it promises is done
when it has been heard to its end, of a turn that is certain: what was interrupted, or was said on
the way to something else, is not remembered.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from s2s.core.events import Event, EventSink, Heard, Notice, ResponseDone
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.llm.memory.folder import MemoryFolder, MemoryFolderError, MemoryNote, about
from s2s.llm.memory.replies import MemoryReplies, replies
from s2s.llm.memory.requests import MemoryRequest, memory_request

log = logging.getLogger(__name__)

TOLD = "What the user asked you to remember earlier, in the user's own words, newest first:"
READ_OUT = 6
"""Notes that are read out at once: nobody listens to more."""
MOST_TURNS = 64
"""Turns whose words are kept until their answers end."""


class RememberingChat:
    """`ChatModel` with the notes of a folder.

    Args:
        model: answers all else.
        memory: the notes.
        system_prompt: what the model is told before a conversation; the notes follow it.
        max_tokens: of the notes that the model is told, newest first.
        spoken: codes of the languages that the voice has, its own first.
    """

    def __init__(
        self,
        model: ChatModel,
        memory: MemoryFolder,
        system_prompt: str,
        *,
        max_tokens: int,
        spoken: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._memory = memory
        self._system_prompt = system_prompt
        self._max_tokens = max_tokens
        self._spoken = spoken

    @property
    def reads_ahead(self) -> bool:
        return self._model.reads_ahead

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        """See `s2s.llm.base.ChatModel.stream`."""
        request = self._request(messages)
        if request is None:
            yield from self._model.stream(
                self._told(messages), stop=stop, work=work, options=options
            )
        elif not stop():
            yield reply(request, self._memory.notes(), replies(request.language, self._spoken))

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        if self._request(messages) is None:
            self._model.warm(self._told(messages), options=options)

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        return self._model.ending(self._told(messages), options=options)

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def close(self) -> None:
        self._model.close()

    def _request(self, messages: Sequence[ChatMessage]) -> MemoryRequest | None:
        """What the newest words of the person ask of the memory. What was said before and never
        answered stands in lines above them."""
        if not messages or messages[-1].role != "user" or not self._is_conversation(messages):
            return None
        lines = messages[-1].content.splitlines()
        return memory_request(lines[-1]) if lines else None

    def _is_conversation(self, messages: Sequence[ChatMessage]) -> bool:
        """It is one, and no other work for the model (old turns summed up)."""
        first = messages[0]
        return first.role == "system" and first.content.startswith(self._system_prompt)

    def _told(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        if not messages or not self._is_conversation(messages):
            return messages
        try:
            notes = self._fitting(self._memory.notes())
        except MemoryFolderError as error:
            log.warning("answered without memory: %s", error)
            return messages
        if not notes:
            return messages
        lines = "\n".join(f"- {text}" for text in notes)
        first = messages[0].content.removeprefix(self._system_prompt)
        told = f"{self._system_prompt}\n\n{TOLD}\n{lines}{first}"
        return [ChatMessage("system", told), *messages[1:]]

    def _fitting(self, notes: Sequence[MemoryNote]) -> list[str]:
        """The newest notes, as many as fit."""
        fitting: list[str] = []
        left = self._max_tokens
        for note in notes:
            left -= self._model.count_tokens(f"- {note.text}\n")
            if left < 0:
                break
            fitting.append(note.text)
        return fitting


class MemoryKeeper:
    """Does what a request asked for once its answer was heard; takes a session's events. Any
    thread.

    Args:
        memory: the notes.
        events: takes what the person should know.
        changed: called with the folder's file when something was remembered.
    """

    def __init__(
        self,
        memory: MemoryFolder,
        events: EventSink,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._memory = memory
        self._events = events
        self._changed = changed
        self._lock = threading.Lock()
        self._asked: OrderedDict[str, MemoryRequest] = OrderedDict()

    def on_event(self, event: Event) -> None:
        match event:
            case Heard(final=True, turn=turn, text=text):
                request = memory_request(text)
                with self._lock:
                    self._asked.pop(turn.turn_id, None)
                    if request is not None and request.kind != "recall":
                        self._asked[turn.turn_id] = request
                    while len(self._asked) > MOST_TURNS:
                        self._asked.popitem(last=False)
            case ResponseDone(response=response, status=status):
                with self._lock:
                    request = self._asked.pop(response.turn_id, None)
                if request is not None:
                    self._deal(request, heard=status == "completed")
            case _:
                pass

    def _deal(self, request: MemoryRequest, *, heard: bool) -> None:
        if not heard:
            undone = "remembered" if request.kind == "remember" else "forgotten"
            self._events(Notice(f"interrupted: nothing was {undone}"))
            return
        try:
            carry_out(request, self._memory)
            if request.kind == "remember":
                self._changed()
        except MemoryFolderError as error:
            log.error("memory: %s", error)
            self._events(Notice(f"not {request.kind}: {error}"))


def carry_out(request: MemoryRequest, memory: MemoryFolder) -> None:
    """Remember or forget.

    Raises:
        MemoryFolderError: the folder cannot be read or written.
    """
    match request.kind:
        case "remember":
            memory.remember(sentence(request.what))
        case "forget":
            memory.forget(lambda note: about(request.what, note.text))
        case "forget_all":
            memory.forget(lambda note: note.file == memory.own_file)
        case "recall":
            pass


def reply(request: MemoryRequest, notes: Sequence[MemoryNote], said: MemoryReplies) -> str:
    """What is answered to `request` while `notes` are remembered."""
    match request.kind:
        case "remember":
            known = any(note.text == sentence(request.what) for note in notes)
            return (said.known if known else said.remembered).format(request.what)
        case "recall":
            found = [note for note in notes if not request.what or about(request.what, note.text)]
            return _read_out(found, said.recalled, said) if found else said.empty
        case "forget":
            found = [note for note in notes if about(request.what, note.text)]
            return _read_out(found, said.forgotten, said) if found else said.unknown
        case "forget_all":
            return said.all_forgotten


def _read_out(notes: Sequence[MemoryNote], sentence_of: str, said: MemoryReplies) -> str:
    texts = [note.text.rstrip(".!。！") for note in notes[:READ_OUT]]
    told = sentence_of.format("; ".join(texts))
    left = len(notes) - READ_OUT
    return f"{told} {said.more.format(left)}" if left > 0 else told


def sentence(text: str) -> str:
    """`text` as a note: it begins with a capital letter."""
    return text[:1].upper() + text[1:]
