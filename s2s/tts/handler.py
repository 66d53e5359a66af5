"""The text-to-speech stage: one for every backend.

It alone lets answers begin, and with that commits their turns, as late as possible: the answer is
made while the speaker may still go on. Nothing of it leaves before it is certain that the turn is
over; or, where sound can be taken back, likely: such a start is provisional.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, Block, Framer, Resampler
from s2s.core.channel import Channel
from s2s.core.events import Notice
from s2s.core.handler import Handler
from s2s.core.messages import (
    AssistantText,
    AudioOut,
    AudioResponseDone,
    EndOfResponse,
    ResponseId,
    SenderInput,
    SessionEnd,
    SignOfLife,
    ToolCall,
    ToolResult,
    TtsInput,
    TtsMessage,
)
from s2s.core.state import SessionState
from s2s.core.work import Shift, Work, each
from s2s.tts.base import CUT_NOTICE, FedSynthesizer, SegmentReport, Synthesizer, TtsError
from s2s.tts.beginning import begin_after_grace, begin_answer
from s2s.tts.language import is_spaced, is_written_in
from s2s.tts.marks import SoundAhead, SpokenText, whole_words
from s2s.tts.passage import Passage, Texts, Told, is_silent, joined, take_waiting, wait_for_clause
from s2s.tts.speak import Synthesis, TtsSettings, pace_of, speak, speak_written, takes_words
from s2s.tts.speech_time import BASE_S, estimate_seconds, head_start_s
from s2s.tts.tempo import paced
from s2s.tts.trim import LeadTrimmer
from s2s.tts.unspoken import Signs, is_answer, unspoken_phrase
from s2s.tts.voice_language import VoiceLanguage

log = logging.getLogger(__name__)

SLOW_COALESCED_S = 4.0
"""Of speech, estimated, for a slower voice: each piece is held back for its head start."""

MOST_HEAD_START_S = 2.0
"""Beside a busy program a clause of twelve seconds came after nine: a gap within it is better."""
MAX_HELD_S = 4.0
"""Sound made ahead of the commit; more would be work for an answer that may be taken back."""


class TtsHandler(Handler[TtsMessage, SenderInput]):
    """Speaks answers.

    Args:
        inbox: its own channel: what waits there for the same response is spoken in one call.
    """

    name = "tts"

    def __init__(
        self,
        synthesizer: Synthesizer,
        inbox: Channel[TtsMessage],
        state: SessionState,
        settings: TtsSettings,
    ) -> None:
        self._synthesizer = synthesizer
        self._inbox = inbox
        self._state = state
        self._turns = state.turns
        self._settings = settings
        self._voice: str | None = None
        self._language = VoiceLanguage(synthesizer, lambda text: state.events(Notice(text)))
        self._texts: Texts = deque()
        self._response: ResponseId | None = None
        self._spoken = ""
        self._told = ""
        """The text that has been told once all sound so far has been played."""
        self._sounded = False
        self._ended = False
        self._signs = Signs(settings.sign, synthesizer.capabilities.languages, settings.output_hz)
        self._audible = False  # nothing of the response was given out yet
        self._ahead = SoundAhead(settings.output_hz)
        self._shift = Shift(state.compute, self._urgency, synthesizer.capabilities.threads)

    def set_voice(self, voice: str | None) -> None:
        """Speak with `voice` until the session ends; None is the backend's configured one.

        Raises:
            TtsError: the backend has no such voice; lists those it has.
        """
        voices = self._synthesizer.capabilities.voices
        if voice is not None and voice not in voices:
            known = ", ".join(voices) or "only its own"
            raise TtsError(f"no voice named {voice!r}; this backend has {known}")
        self._voice = voice

    # --- at the door ---------------------------------------------------------------------------

    def process(self, message: TtsMessage) -> Iterable[SenderInput]:
        if not isinstance(message, SessionEnd) and message.response != self._response:
            self._begin(message.response)
        match message:
            case AssistantText() | ToolCall() | ToolResult():
                self._texts.append(message)  # leaves with the sound it belongs to
                return self._show(message.response) if is_silent(message) else ()
            case TtsInput():
                return self._speak(message)
            case SignOfLife():
                return self._give_sign(message)
            case EndOfResponse():
                return self._end(message)
            case SessionEnd():
                return (message,)

    def failed(self, message: TtsMessage | None, error: Exception) -> Iterable[SenderInput]:
        if isinstance(message, TtsInput) and not self._ended:
            self._ended = True
            yield AudioResponseDone(message.response, error=f"speech synthesis failed: {error}")

    def end_session(self) -> None:
        self._texts.clear()
        self._response = None
        self._voice = None
        self._language.reset()

    def _urgency(self) -> Work:
        """The first sound of an answer is waited for; the rest is made ahead of the listener, and
        once enough waits to be played, text goes first."""
        if not self._audible:
            return Work.FIRST_SOUND
        enough = self._ahead.is_enough(self._state.clock.now())
        return Work.SOUND_LATER if enough else Work.SOUND_AHEAD

    def _begin(self, response: ResponseId) -> None:
        self._audible = False
        self._response = response
        self._texts.clear()
        self._spoken = self._told = ""
        self._sounded = False
        self._ended = False

    def _end(self, message: EndOfResponse) -> Iterator[SenderInput]:
        """Close the response, whatever became of it."""
        if self._ended:
            return
        self._ended = True
        response = message.response
        latest = self._turns.is_latest_after_reopen_grace(
            response.turn,
            stale=lambda: self._state.is_stale(response),
            provisionally=self._sounded,  # it has begun, and may end before it is certain
        )
        if latest and not message.cleanup_only:
            error = message.error
            if not self._sounded and error is None and message.spoken:
                yield from self._say_nothing_spoken(message)
                error = None if self._sounded else "the voice made no sound"
            yield from self._take_texts()
            silence = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
            if self._sounded and self._told != self._spoken:  # it ends in code, or emoji
                yield AudioOut(silence, response, self._spoken)
            yield AudioResponseDone(response, error, usage=message.usage)
        elif response.response_key is not None:
            yield AudioResponseDone(response, message.error, cleanup_only=True)

    def _show(self, response: ResponseId) -> Iterator[SenderInput]:
        """Let out what no sound follows, once the answer may begin."""
        if begin_after_grace(self._state, response):
            yield from self._take_texts()

    def _say_nothing_spoken(self, end: EndOfResponse) -> Iterator[SenderInput]:
        """Say a sentence in place of an answer of which nothing could be spoken."""
        response = end.response
        shown = self._spoken
        if not is_answer(shown):
            self._spoken = ""  # dots and dashes remembered make the model answer with more of them
        phrase, language = unspoken_phrase(shown, end.language, self._language.languages)
        self._texts.append(AssistantText(phrase, response, instead_of=shown))
        note = TtsInput(phrase, response, language, 0.0, system_note=True)
        blocks = self._blocks([note], lambda: self._state.is_stale(response))
        yield from self._gate(response, blocks, 0)

    def _give_sign(self, sign: SignOfLife) -> Iterator[SenderInput]:
        """Let it be heard that an answer is worked on, unless it has begun. No part of it."""
        response = sign.response
        if self._sounded or self._spoken or self._state.is_stale(response):
            return
        stale = self._state.stop_when(lambda: self._state.is_stale(response))
        yield from self._gate(response, self._signs.of(sign, lambda n: self._blocks([n], stale)), 0)
        self._sounded = self._audible = False
        self._state.metrics.value(response.turn, "sign_of_life", 1.0)

    # --- speaking ------------------------------------------------------------------------------

    def _speak(self, first: TtsInput) -> Iterator[SenderInput]:
        response = first.response
        if self._ended or self._state.is_stale(response):
            return
        stale = self._state.stop_when(lambda: self._state.is_stale(response))
        written = self._takes_words(first)
        inputs = [first] if written else self._whole(first, stale)
        if not self._settings.speculative and not self._turns.is_latest_after_reopen_grace(
            response.turn, stale=lambda: self._state.is_stale(response), provisionally=True
        ):
            return
        blocks = self._blocks(inputs, stale, written=written)
        yield from self._gate(response, blocks, self._head_start(inputs))

    def _whole(self, first: TtsInput, stale: Callable[[], bool]) -> list[TtsInput]:
        """What a voice gets that wants whole texts: a clause at least, and all that waits, unless
        its first sound would wait for that (docs/decisions/qwen3-prefill.md)."""
        first = wait_for_clause(first, self._inbox, self._texts, stale)
        slow = self._pace() > 1
        if (slow or self._synthesizer.capabilities.reads_first) and not self._spoken:
            return [first]
        most_s = SLOW_COALESCED_S if slow else self._settings.max_coalesced_s
        waiting = take_waiting(first, self._inbox, self._texts, most_s)
        return [first, *waiting]

    def _takes_words(self, first: TtsInput) -> bool:
        """The voice speaks along while this text is written. Not where it is too slow for that, in
        scripts without spaces, and where another language may begin: that is told from a clause."""
        language = self._language.current(first.language)
        return (
            takes_words(self._synthesizer, self._pace(), first.voice or self._voice, language)
            and not first.system_note
            and language is not None
            and first.language in (None, language)
            and is_spaced(language)
            and is_written_in(first.text, language)
        )

    def _head_start(self, inputs: list[TtsInput]) -> int:
        """Samples to be made before the first is played: playback runs dry late, or never."""
        expected_s = sum(estimate_seconds(each.text) for each in inputs)
        start_s = min(MOST_HEAD_START_S, head_start_s(expected_s, self._pace()))
        return int(start_s * self._settings.output_hz)

    def _pace(self) -> float:
        language = self._language.current(None)
        pace = pace_of(self._synthesizer, self._settings.real_time_factor, language)
        return pace * self._settings.manner.current.speed

    def _gate(
        self, response: ResponseId, blocks: Iterator[AudioOut], head_start: int
    ) -> Iterator[SenderInput]:
        """Hold what is made until the answer may begin, then let all of it go.

        At least `head_start` samples are made before any leaves.
        """
        held: list[AudioOut] = []
        held_samples = 0
        begun = False
        for block in blocks:
            held.append(block)
            held_samples += len(block.block)
            if self._state.is_stale(response):
                return
            begun = begin_answer(self._state, response)
            if begun or held_samples > MAX_HELD_S * self._settings.output_hz:
                break
        if not begun and not begin_after_grace(self._state, response):
            return
        self._audible = True
        yield from self._take_texts()
        while held_samples < head_start and (block := next(blocks, None)) is not None:
            held.append(block)
            held_samples += len(block.block)
        for block in chain(held, blocks):
            yield from self._take_texts()
            self._ahead.leaves(len(block.block), self._state.clock.now())
            yield block

    def _take_texts(self) -> list[Told]:
        return [self._texts.popleft() for _ in range(len(self._texts))]

    # --- sound ---------------------------------------------------------------------------------

    def _blocks(
        self, inputs: list[TtsInput], stale: Callable[[], bool], *, written: bool = False
    ) -> Iterator[AudioOut]:
        """The sound of `inputs` in blocks of 512 samples, each with the text it completes."""
        first = inputs[0]
        before = self._spoken
        synthesis = self._synthesis(inputs, stale, written=written)
        spoken = synthesis.spoken

        def remember() -> None:
            if not first.system_note:
                self._spoken = before + spoken.original

        def text_at(chars: int) -> str:
            if first.system_note:
                return before
            return before + spoken.heard(len(whole_words(spoken.text, chars)))

        remember()
        try:
            for block, chars in self._sound(synthesis, first, stale):
                if stale():
                    return
                self._sounded, self._told = True, text_at(chars)
                yield AudioOut(block, first.response, self._told)
        finally:
            remember()  # a text that was still being written has grown

    def _synthesis(
        self, inputs: list[TtsInput], stale: Callable[[], bool], *, written: bool
    ) -> Synthesis:
        first = inputs[0]
        original = joined([each.text for each in inputs])
        voice, lexicon = first.voice or self._voice, self._settings.lexicon
        language = self._language.choose(original, first.language, first.response.turn_id)
        if written and language is not None and isinstance(self._synthesizer, FedSynthesizer):
            passage = Passage(
                first, self._inbox, language, lexicon, self._texts, self._shift.paused
            )
            return speak_written(passage, self._synthesizer, language, voice=voice, stop=stale)
        return speak(
            original, self._synthesizer, language, voice=voice, lexicon=lexicon, stop=stale
        )

    def _sound(
        self, synthesis: Synthesis, first: TtsInput, stale: Callable[[], bool]
    ) -> Iterator[tuple[Block, int]]:
        """Blocks float32 [512] at the output rate, each with the characters spoken at its end."""
        model_hz = self._synthesizer.capabilities.sample_rate_hz
        output_hz = self._settings.output_hz
        trimmer = LeadTrimmer(model_hz)
        resampler = Resampler(model_hz, output_hz)
        framer = Framer(BLOCK_SAMPLES)
        spoken = synthesis.spoken
        marks = SpokenText(0, 0)
        clock, manner = self._state.clock, self._settings.manner.current
        started_s = asked_s = clock.now()
        work_s = 0.0
        made = kept = left = 0

        def reads_on() -> None:
            expected_s = estimate_seconds(spoken.text) - BASE_S
            marks.reads_on(len(spoken.text), int(expected_s * model_hz))

        def frames(ready: Block) -> Iterator[tuple[Block, int]]:
            nonlocal kept, left
            kept += len(ready)
            for frame in framer.push(resampler.push(ready)):
                left += len(frame)
                yield frame, marks.at(made - kept + left * model_hz // output_hz)

        for chunk in each(paced(synthesis.chunks, model_hz, first.speed, manner), self._shift):
            work_s += clock.now() - asked_s
            self._ahead.took(clock.now() - asked_s)
            reads_on()
            if chunk.report is not None:
                self._note(first.response, chunk.report)
            if stale():
                return
            if made == 0 and len(chunk.samples):
                self._state.mark(first.response, "first_audio")
                ttfa_ms = 1000 * (clock.now() - started_s)
                self._state.metrics.value(first.response.turn, "tts_ttfa_ms", ttfa_ms)
            made += len(chunk.samples)
            marks.add(len(chunk.samples), chunk.spoken_chars)
            yield from frames(trimmer.push(chunk.samples))
            asked_s = clock.now()  # waiting for room to put them was no work
        if made:
            rtf = (work_s + clock.now() - asked_s) * model_hz / made
            self._state.metrics.value(first.response.turn, "tts_rtf", rtf)
        reads_on()
        marks.finish()
        yield from frames(trimmer.flush())
        for frame in (*framer.push(resampler.flush()), *framer.flush()):
            yield frame, len(spoken.text)

    def _note(self, response: ResponseId, report: SegmentReport) -> None:
        """To the metrics; and the person is told when speech was cut."""
        self._state.metrics.segment(response.turn, report.stop_reason, report.measures)
        if report.is_cut:
            log.warning("speech was cut at the limit of its length: %s", dict(report.measures))
            self._state.events(Notice(CUT_NOTICE))
