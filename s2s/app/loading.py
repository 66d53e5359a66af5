"""Loads the models of a configuration once, and gives each its share of this machine's threads."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from s2s.app.needed_models import needed_models
from s2s.app.terminal import megabytes
from s2s.app.together import Together
from s2s.app.voice_activity import open_vad
from s2s.app.voices.my_voice import own_voice
from s2s.config import registry
from s2s.config.schema import Config, LlmConfig, SttConfig, TtsConfig
from s2s.core.audio import BLOCK_SAMPLES, Block
from s2s.core.clock import SystemClock
from s2s.llm.base import ChatMessage, ChatModel
from s2s.llm.calling.choosing import HeldToChoices
from s2s.models.fetch import offline
from s2s.models.resources import Resources
from s2s.models.store import Store, StoreError
from s2s.session.config import SessionConfig
from s2s.session.models import Models, tool_user
from s2s.stt.base import Transcriber
from s2s.system.compute import shared
from s2s.system.cpu import cores
from s2s.tools.loading import load_tools
from s2s.tts.base import Measured, Synthesizer
from s2s.tts.spare_voice import with_spare
from s2s.tts.text import speakable
from s2s.tts.voices_by_language import LanguageVoice, VoicesByLanguage
from s2s.turns.endpoint import EndOfTurn
from s2s.turns.orders.wake_word import MicroWakeModel

log = logging.getLogger(__name__)

SLOW = 0.95
"""A voice above this share of real time cannot be relied on to keep up."""

MAX_THREADS = 4
"""More threads than this make none of these small models faster."""


@runtime_checkable
class Placed(Protocol):
    """A model that may be computed on a graphics card."""

    @property
    def where(self) -> str:
        """Which card computes it, or why none does; "" on a processor without one."""
        ...


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of each stage. Nothing spins: a thread that waits costs nothing."""

    stt: int
    llm: int
    tts: int

    @classmethod
    def of(cls, config: Config) -> Threads:
        """As configured, else by this machine's cores.

        The LLM works alone and gets all of them. The STT shares them with the end-of-turn model,
        the TTS with the LLM.
        """
        usual = min(MAX_THREADS, cores())
        return cls(
            stt=config.stt.threads or max(1, usual - 1),
            llm=config.llm.threads or usual,
            tts=config.tts.threads or 1,
        )


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Models that other processes have: what makes that which stands for each here. None: it is
    loaded here."""

    transcriber: Callable[[], Transcriber] | None = None
    chat: Callable[[], ChatModel] | None = None
    synthesizer: Callable[[], Synthesizer] | None = None

    @property
    def stages(self) -> frozenset[registry.StageName]:
        """Those that are not loaded here."""
        made = {"stt": self.transcriber, "llm": self.chat, "tts": self.synthesizer}
        return frozenset(stage for stage in registry.STAGES if made[stage] is not None)

    def put_into(self, models: Models) -> Models:
        """Models with these in place of their own."""
        return replace(
            models,
            transcriber=models.transcriber if self.transcriber is None else self.transcriber(),
            chat=models.chat if self.chat is None else self.chat(),
            synthesizer=models.synthesizer if self.synthesizer is None else self.synthesizer(),
        )


HERE = Elsewhere()
"""All models are loaded in this process."""


def load_models(
    config: Config, store: Store, notice: Callable[[str], None], elsewhere: Elsewhere = HERE
) -> Models:
    """Load and warm up everything a session needs. What cannot work is an error here, not later.

    What must be fetched first is told with its size; offline that is an error, which names all of
    it at once.

    Raises:
        StoreError, RegistryError, StageError: a model or an extra that is not there. What
            was loaded by then is closed.
    """
    told = to_fetch(config, store, elsewhere)
    if told and not offline():
        notice(told)
    try:
        with Together() as together:
            return _loaded(config, store, notice, together, elsewhere)
    except StoreError as error:
        if not (told and offline()):
            raise
        raise StoreError(
            f"{error}\n{told} HF_HUB_OFFLINE forbids that: unset it, or choose other models."
        ) from error


def to_fetch(config: Config, store: Store, elsewhere: Elsewhere = HERE) -> str:
    """What a conversation with this config needs that is not here, and how big it is; "" for
    nothing. A hub folder that the model list does not know is not among it."""
    needed = needed_models(config, store, elsewhere.stages)
    lacking = [each for each in needed if store.state(each) == "missing"]
    if not lacking:
        return ""
    sizes = ", ".join(f"{each.name} ({megabytes(each.size_bytes)})" for each in lacking)
    total = megabytes(sum(each.size_bytes for each in lacking))
    return f"to be fetched: {sizes}; {total} in all."


def _loaded(
    config: Config,
    store: Store,
    notice: Callable[[str], None],
    together: Together,
    elsewhere: Elsewhere,
) -> Models:
    threads = Threads.of(config)
    vad = open_vad(config.models.vad, store)
    end_of_turn = None
    if config.models.end_of_turn is None:
        notice("no end-of-turn model: silence alone decides when a turn is over")
    else:
        end_of_turn = EndOfTurn(store.path(config.models.end_of_turn))
    tools = load_tools(config.tools)
    word = config.models.wake_word
    wake_word = None if word is None else MicroWakeModel(word)
    stt = together.start(
        "stt",
        elsewhere.transcriber or (lambda: create_ear(config.stt, Resources(store, threads.stt))),
    )
    llm = together.start(
        "llm",
        elsewhere.chat or (lambda: create_answerer(config.llm, Resources(store, threads.llm))),
    )
    tts = together.start(
        "tts",
        elsewhere.synthesizer or (lambda: create_voice(config.tts, Resources(store, threads.tts))),
    )
    together.wait()
    for said in on_cards((stt.made, llm.made)):
        notice(said)
    own = own_voice(config, store)
    if own is not None:
        notice("listens to your voice alone (python -m s2s voices me --erase: to everybody)")
    models = Models(
        vad,
        end_of_turn,
        stt.made,
        llm.made,
        tts.made,
        wake_word=wake_word,
        own_voice=own,
        tools=tools,
        held=llm.made if isinstance(llm.made, HeldToChoices) else None,
    )
    warm_up(models, config.session)
    rtf = real_time_factor(models.synthesizer)
    if isinstance(models.synthesizer, Measured):
        notice(_told(models.synthesizer, rtf))
    if rtf > SLOW:
        notice(
            f"{config.tts.backend} needs {rtf:.2f} s for a second of speech on this machine, so "
            "its answers start late. Quicker: --tts piper (streaming VITS), --tts hibari, or a "
            "smaller model."
        )
    return replace(models, tts_rtf=rtf, compute=shared())


def on_cards(made: Iterable[object]) -> list[str]:
    """What models say of a graphics card."""
    return [each.where for each in made if isinstance(each, Placed) and each.where]


def create_answerer(config: LlmConfig, resources: Resources) -> ChatModel:
    """Who answers.

    Raises:
        StoreError, RegistryError, StageError: as its backend does.
    """
    return registry.create_chat_model(config.backend, config.options, resources)


def create_ear(config: SttConfig, resources: Resources) -> Transcriber:
    """Who writes down, taught its words.

    Raises:
        StoreError, RegistryError, StageError: as its backend does.
    """
    taught = replace(resources, words=config.words)
    return registry.create_transcriber(config.backend, config.options, taught)


def create_voice(config: TtsConfig, resources: Resources) -> Synthesizer:
    """Who speaks: one backend, or one for each of several languages.

    Raises:
        StoreError, RegistryError, StageError: as its backends do; what was loaded is closed.
    """
    main = registry.create_synthesizer(config.backend, config.options, resources)
    if config.spare is not None:
        main = _with_spare(main, config.spare, resources)
    others: dict[str, LanguageVoice] = {}
    try:
        for code, each in config.by_language.items():
            made = main
            if each.backend:
                made = registry.create_synthesizer(each.backend, each.options, resources)
            others[code] = LanguageVoice(made, each.voice)
    except BaseException:
        for made in (main, *(voice.synthesizer for voice in others.values())):
            made.close()
        raise
    return VoicesByLanguage(main, others) if others else main


def _with_spare(main: Synthesizer, name: str, resources: Resources) -> Synthesizer:
    try:
        return with_spare(main, registry.create_synthesizer(name, None, resources))
    except BaseException:
        main.close()
        raise


def _told(voice: Measured, rtf: float) -> str:
    how = f" ({voice.measured_how})" if voice.measured_how else ""
    return f"{voice.description}: {rtf:.2f} of real time here{how}"


def real_time_factor(synthesizer: Synthesizer) -> float:
    """Seconds of work for a second of speech: as it says itself, else measured on one sentence; 0
    when it says nothing."""
    if isinstance(synthesizer, Measured):
        return synthesizer.real_time_factor
    if isinstance(synthesizer, VoicesByLanguage):
        return synthesizer.measure(real_time_factor)
    started_s = time.perf_counter()
    chunks = synthesizer.synthesize("This tells how quick I am.")
    samples = sum(len(chunk.samples) for chunk in chunks)
    took_s = time.perf_counter() - started_s
    return took_s * synthesizer.capabilities.sample_rate_hz / samples if samples else 0.0


def warm_up(models: Models, session: SessionConfig) -> None:
    """Run each model once, and the rules of the language that will be spoken, so that the first
    answer is as quick as the later ones.

    One after the other, and the voice last: it may measure this machine, and nothing else of this
    program computes then.
    """
    models.vad.open().probability(_silence())
    if models.end_of_turn is not None:
        models.end_of_turn.probability(_silence())
    models.transcriber.warm()
    models.chat.warm([ChatMessage("system", session.system_prompt)])
    if models.tools is not None:
        models.tools.connect()
        user = tool_user(models, models.tools.open(SystemClock()))
        if user.chooser is not None:
            user.chooser.warm(user.tools.hints)
    models.synthesizer.warm()
    spoken = {session.language or "en", *models.synthesizer.capabilities.languages[:1]}
    for language in spoken:
        speakable("Ready, 1.", language)


def close_models(models: Models) -> None:
    """Free what was loaded."""
    models.transcriber.close()
    models.chat.close()
    models.synthesizer.close()
    if models.tools is not None:
        models.tools.close()


def _silence() -> Block:
    return np.zeros(BLOCK_SAMPLES, dtype=np.float32)
