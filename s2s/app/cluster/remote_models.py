"""The models of a process of sessions that are in other processes: as its own would be, for what
uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from s2s.app.cluster.calls import CallLoop, ModelCalls, ModelHandle
from s2s.core.audio import Block
from s2s.core.errors import StageError
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import (
    PLAIN,
    ChatMessage,
    ChatOptions,
    LlmError,
    Urgency,
    estimate_tokens,
)
from s2s.stt.base import SttError, Transcription
from s2s.tts.base import AudioChunk, Capabilities, TtsError

T = TypeVar("T")

WARM_TEXT = "Ready."


@dataclass(frozen=True, slots=True)
class VoiceFacts:
    """What is asked of a voice once."""

    capabilities: Capabilities
    takes_instructions: bool


class ClusterTranscriber:
    """A recogniser in processes of its own. It is sent whole utterances."""

    def __init__(self, calls: ModelCalls) -> None:
        self._calls = calls

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """See `Transcriber`."""
        given = self._calls.items("transcribe", audio, language, earlier, stop=stop)
        heard = [_one_of(Transcription, item, SttError) for item in given]
        return heard[-1] if heard else Transcription("")

    def warm(self) -> None:
        """It was warmed in its own process."""

    def close(self) -> None:
        """It ends with the cluster."""


class ClusterChat:
    """A language model in processes of its own."""

    reads_ahead = False

    def __init__(self, calls: ModelCalls) -> None:
        self._calls = calls

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        """See `ChatModel`."""
        for item in self._calls.items("answer", tuple(messages), options, stop=stop):
            if isinstance(item, str):
                yield item
            else:
                yield _one_of(Call, item, LlmError)

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """It was warmed in its own process; which of them answers is not known before."""

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        """It is not asked: another process would answer than the one that knows the beginning."""
        return None

    def count_tokens(self, text: str) -> int:
        """See `ChatModel`."""
        return estimate_tokens(text)

    def close(self) -> None:
        """It ends with the cluster."""


class ClusterVoice:
    """A voice in processes of its own."""

    def __init__(self, calls: ModelCalls, start_s: float) -> None:
        """Waits until one of its processes is there, at most `start_s`.

        Raises:
            TtsError: none came.
        """
        self._calls = calls
        (facts,) = calls.items("facts", wait_s=start_s)
        self._facts = _one_of(VoiceFacts, facts, TtsError)

    @property
    def capabilities(self) -> Capabilities:
        """See `Synthesizer`."""
        return self._facts.capabilities

    @property
    def takes_instructions(self) -> bool:
        """See `InstructedSynthesizer`."""
        return self._facts.takes_instructions

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `Synthesizer`."""
        return self.synthesize_instructed(text, "", voice=voice, language=language, stop=stop)

    def synthesize_instructed(
        self,
        text: str,
        instructions: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """See `InstructedSynthesizer`."""
        given = (text, voice, language, instructions)
        for item in self._calls.items("speak", *given, stop=stop):
            yield _one_of(AudioChunk, item, TtsError)

    def warm(self) -> None:
        """It was warmed in its own process; here the way there is."""
        for _ in self.synthesize(WARM_TEXT):
            continue

    def close(self) -> None:
        """It ends with the cluster."""


@dataclass(frozen=True, slots=True)
class ModelHandles:
    """Those of the stages that have processes of their own."""

    stt: ModelHandle | None = None
    llm: ModelHandle | None = None
    tts: ModelHandle | None = None


def remote_transcriber(handle: ModelHandle, wait_s: float, loop: CallLoop) -> ClusterTranscriber:
    """The recogniser behind `handle`."""
    return ClusterTranscriber(ModelCalls(handle, "the recogniser", SttError, wait_s, loop))


def remote_chat(handle: ModelHandle, wait_s: float, loop: CallLoop) -> ClusterChat:
    """The language model behind `handle`."""
    return ClusterChat(ModelCalls(handle, "the language model", LlmError, wait_s, loop))


def remote_voice(
    handle: ModelHandle, wait_s: float, start_s: float, loop: CallLoop
) -> ClusterVoice:
    """The voice behind `handle`."""
    return ClusterVoice(ModelCalls(handle, "the voice", TtsError, wait_s, loop), start_s)


def _one_of(kind: type[T], item: object, error: Callable[[str], StageError]) -> T:
    if isinstance(item, kind):
        return item
    raise error(
        f"A process of the cluster gave {type(item).__name__} where {kind.__name__} belongs: its "
        "machines run different versions of s2s."
    )
