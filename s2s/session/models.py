"""The models of a conversation: loaded once, shared by all sessions."""

from __future__ import annotations

from dataclasses import dataclass, field

from s2s.core.work import Compute, Unlimited
from s2s.llm.base import ChatModel
from s2s.llm.calling.choosing import HeldToChoices
from s2s.llm.calling.own_tools import ToolUser
from s2s.llm.handler import AnswerVoice
from s2s.stt.base import Transcriber
from s2s.tools.toolbox import LoadedTools, SessionTools
from s2s.tts.base import Synthesizer
from s2s.tts.speak import takes_words
from s2s.turns.base import OwnVoice, TurnEnd, VadModel, WakeModel


@dataclass(frozen=True, slots=True)
class Models:
    """What is loaded once and shared by all sessions."""

    vad: VadModel
    end_of_turn: TurnEnd | None
    transcriber: Transcriber
    chat: ChatModel
    synthesizer: Synthesizer
    tts_rtf: float = 0.0
    """Seconds of work that the synthesizer takes for a second of speech on this machine."""
    wake_word: WakeModel | None = None
    """What must be said before anything counts; None where everything does."""
    own_voice: OwnVoice | None = None
    """The voice that is listened to; None: everybody."""
    tools: LoadedTools | None = None
    """What the assistant may do beside talking."""
    held: HeldToChoices | None = None
    """The language model itself, where it can be held to choices."""
    compute: Compute = field(default_factory=Unlimited)
    """Decides who computes, for all of them."""


def answer_voice(models: Models) -> AnswerVoice:
    """What the answering stage must know of the voice."""
    by_word = takes_words(models.synthesizer, models.tts_rtf)
    return AnswerVoice(by_word, models.synthesizer.capabilities.languages)


def tool_user(models: Models, tools: SessionTools) -> ToolUser:
    """What the answering stage calls a session's tools with."""
    return ToolUser.of(tools, models.held, tools.calling)
