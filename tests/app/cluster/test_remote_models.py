"""Models in other processes, as what uses them sees them: handles answer in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

import numpy as np
import pytest

from s2s.app.cluster.calls import CallLoop
from s2s.app.cluster.remote_models import (
    VoiceFacts,
    remote_chat,
    remote_transcriber,
    remote_voice,
)
from s2s.core.markup import Call
from s2s.llm.base import ChatMessage, ChatOptions, LlmError
from s2s.stt.base import SttError, Transcription
from s2s.tts.base import AudioChunk, Capabilities, InstructedSynthesizer, TtsError

FACTS = VoiceFacts(Capabilities(24_000, streaming=True, languages=("en",), voices=("ada",)), True)
SOUND = np.zeros(160, np.float32)


class Handle:
    """Gives the same to everybody who asks a method."""

    def __init__(self, **answers: list[object]) -> None:
        self.answers = answers
        self.asked: list[tuple[object, ...]] = []

    async def ask(self, method: str, *given: object) -> AsyncGenerator[object]:
        self.asked.append((method, *given))
        for item in self.answers[method]:
            yield item


@pytest.fixture
def loop() -> Iterator[CallLoop]:
    made = CallLoop()
    yield made
    made.close()


def test_a_recogniser_is_sent_the_utterance_and_gives_its_words(loop: CallLoop) -> None:
    handle = Handle(transcribe=[Transcription("Hello.", "en")])
    ear = remote_transcriber(handle, 60.0, loop)
    earlier = Transcription("Hel")
    heard = ear.transcribe(SOUND, language="en", earlier=earlier)
    assert heard == Transcription("Hello.", "en")
    method, audio, language, before = handle.asked[0]
    assert (method, language, before) == ("transcribe", "en", earlier)
    assert audio is SOUND
    ear.warm()
    ear.close()


def test_one_that_was_stopped_heard_nothing(loop: CallLoop) -> None:
    ear = remote_transcriber(Handle(transcribe=[]), 60.0, loop)
    assert ear.transcribe(SOUND, stop=lambda: True).text == ""


def test_a_language_model_gives_words_and_calls(loop: CallLoop) -> None:
    call = Call("clock", "{}")
    handle = Handle(answer=["It is ", call])
    chat = remote_chat(handle, 60.0, loop)
    messages, options = [ChatMessage("user", "What time is it?")], ChatOptions(max_tokens=9)
    assert list(chat.stream(messages, options=options)) == ["It is ", call]
    assert handle.asked == [("answer", tuple(messages), options)]
    assert chat.ending(messages) is None
    assert not chat.reads_ahead
    assert chat.count_tokens("three words here") > 0
    chat.warm(messages)
    chat.close()


def test_a_voice_says_first_what_it_can(loop: CallLoop) -> None:
    chunk = AudioChunk(SOUND, 3)
    handle = Handle(facts=[FACTS], speak=[chunk])
    voice = remote_voice(handle, 60.0, 60.0, loop)
    assert voice.capabilities == FACTS.capabilities
    assert isinstance(voice, InstructedSynthesizer)
    assert voice.takes_instructions
    assert list(voice.synthesize("Hi.", voice="ada", language="en")) == [chunk]
    assert list(voice.synthesize_instructed("Hi.", "cheerful")) == [chunk]
    voice.warm()
    assert handle.asked[1:3] == [
        ("speak", "Hi.", "ada", "en", ""),
        ("speak", "Hi.", None, None, "cheerful"),
    ]
    voice.close()


def test_another_version_over_there_is_told_as_such(loop: CallLoop) -> None:
    odd: list[object] = [3]
    with pytest.raises(SttError, match="different versions"):
        remote_transcriber(Handle(transcribe=odd), 60.0, loop).transcribe(SOUND)
    with pytest.raises(LlmError, match="different versions"):
        list(remote_chat(Handle(answer=odd), 60.0, loop).stream([]))
    with pytest.raises(TtsError, match="different versions"):
        remote_voice(Handle(facts=odd), 60.0, 60.0, loop)
    with pytest.raises(TtsError, match="different versions"):
        list(remote_voice(Handle(facts=[FACTS], speak=odd), 60.0, 60.0, loop).synthesize("Hi."))
