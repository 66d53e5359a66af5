"""From a request to the vectors the talker is fed with, in all four official layouts.

Every position is the sum of a text vector and a codec vector. The layouts differ in where the
text stands: before the sound starts ("whole"), or one token a frame alongside it ("streaming");
and, when a voice is cloned in context, its transcript and codes come first. Facts: qwen-tts
0.1.1, ``Qwen3TTSForConditionalGeneration.generate`` and ``generate_icl_prompt``.

Knows nothing of backends: the vectors come from an ``Embeddings`` port.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import Kind, Spec
from s2s.tts.qwen3.errors import PromptError, SpecError
from s2s.tts.qwen3.interfaces import Embeddings, Floats, Ids, Stale
from s2s.tts.qwen3.text.stream import FedText, TextSource, TextTokens
from s2s.tts.qwen3.text.tokenizer import Tokenizer

ROLE_TOKENS = 3  # <|im_start|> assistant \n
_ROLE = "<|im_start|>assistant\n"
_TAIL = "<|im_end|>\n<|im_start|>assistant\n"
_TAIL_TOKENS = 5  # <|im_end|> \n <|im_start|> assistant \n
_REFERENCE_TAIL = "<|im_end|>\n"
_REFERENCE_TAIL_TOKENS = 2  # <|im_end|> \n
AUTO = "auto"
_NOTHING = "there is nothing to say: the text is empty"


@dataclass(frozen=True, slots=True)
class Reference:
    """A voice to clone.

    speaker: float32 [H], what the speaker encoder made of the recording.
    codes: int64 [frames, G] of the same recording, and ``text``, all that is said in it: with
    both the voice is cloned in context, without them from the vector alone.
    """

    speaker: Floats
    codes: Ids | None = None
    text: str = ""

    @property
    def in_context(self) -> bool:
        """Transcript and codes become part of the prompt."""
        return self.codes is not None


@dataclass(frozen=True, slots=True)
class Request:
    """What to say and how.

    ``text`` may still be being written: it is then spoken along with its feed, each token as it
    comes, in the layout that has the text alongside the sound.
    ``speaker`` names a trained speaker (CustomVoice), ``reference`` a recorded one (Base),
    ``instruction`` describes manner or voice. ``language`` is a name of the model's list, or None
    to leave it open. ``streaming`` picks the layout; None is the official default: text alongside
    the sound for clones, all text first otherwise.
    """

    text: str | TextSource
    language: str | None = None
    speaker: str | None = None
    instruction: str | None = None
    reference: Reference | None = None
    streaming: bool | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the talker is fed with.

    embeddings: float32 [positions, H]: the prefill.
    trailing: float32 [n, H]: the text vector added to frame t, for t below n.
    pad: float32 [H]: the text vector added to every later frame, for ever. Without it the model
    never ends.
    text_tokens: tokens of the text to be spoken, as far as it is known.
    prefix: leading positions that depend on voice, language and instruction alone.
    text_frames: frames whose codes are made before all of the text was fed.
    coming: where the text comes from that is still being written; ``trailing`` is then empty.
    """

    embeddings: Floats
    trailing: Floats
    pad: Floats
    text_tokens: int
    prefix: int
    text_frames: int = 0
    coming: FedText | None = None

    def text_vector(self, frame: int) -> Floats:
        """float32 [H]: what is added to the codes of a frame, once all of the text is known."""
        return self.trailing[frame] if frame < len(self.trailing) else self.pad

    def text_late(self, frame: int) -> bool:
        """What is added to the codes of a frame has yet to be written. Asked from any thread."""
        return self.coming is not None and self.coming.late(frame + 1)

    def text_left(self, frame: int) -> bool:
        """Some of the text had yet to be fed when this frame's codes were made."""
        if self.coming is not None:
            return self.coming.left(frame)  # the first token stands in the prompt
        return frame < self.text_frames


class PromptBuilder:
    """Makes prompts for one model."""

    def __init__(self, spec: Spec, tokenizer: Tokenizer, embeddings: Embeddings) -> None:
        self._spec = spec
        self._tokenizer = tokenizer
        self._embeddings = embeddings
        ids = spec.ids
        self._check_tokenizer()
        self._pad, self._bos, self._eos = self._text(
            np.array([ids.text_pad, ids.text_bos, ids.text_eos])
        )

    def _check_tokenizer(self) -> None:
        """Raise SpecError unless the template's marks are the tokens that they are taken for."""
        for text, tokens in (
            (_ROLE, ROLE_TOKENS),
            (_TAIL, _TAIL_TOKENS),
            (_REFERENCE_TAIL, _REFERENCE_TAIL_TOKENS),
        ):
            found = len(self._tokenizer.encode(text))
            if found != tokens:
                raise SpecError(
                    f"make {found} tokens of {text!r}, which has {tokens}",
                    file="tokenizer_config.json",
                    field="added_tokens_decoder and merges.txt",
                    advice="fetch the tokenizer's files again",
                )

    def build(self, request: Request) -> Prompt:
        """The prompt of a request.

        Raises PromptError for an unknown language or speaker, for a request that does not fit
        the model's kind, and for a text without a single token.
        """
        check_request(request, self._spec)
        if not isinstance(request.text, str):
            raise PromptError("the text is still being written: begin with it instead")
        body = self._tokens(request.text, _TAIL, _TAIL_TOKENS)
        if not body.size:
            raise PromptError(_NOTHING)
        streaming = request.streaming
        if streaming is None:
            streaming = self._spec.kind is Kind.BASE
        head = self._head(request, self._codec_prefix(request))
        reference = request.reference
        if reference is not None and reference.codes is not None:
            voice = self._tokens(reference.text, _REFERENCE_TAIL, _REFERENCE_TAIL_TOKENS)
            rest, trailing = self._in_context(voice, body, reference.codes, streaming)
            # One position at least must be left to feed, or there is nothing to go on from.
            prefix = len(head) + min(len(voice), len(rest) - 1)
            in_prompt = not streaming or len(voice) + len(body) <= len(reference.codes)
        else:
            rest, trailing = self._streaming(body) if streaming else self._whole(body)
            prefix = len(head)
            in_prompt = not streaming
        return Prompt(
            embeddings=np.concatenate([head, rest]),
            trailing=trailing,
            pad=self._pad,
            text_tokens=len(body),
            prefix=prefix,
            text_frames=0 if in_prompt else len(trailing),
        )

    def begin(self, request: Request, feed: TextSource, stale: Stale) -> Prompt | None:
        """The prompt of a request whose text ``feed`` is to bring, waiting for its first token;
        None when it is stale or the feed was closed.

        Raises PromptError as ``build`` does.
        """
        check_request(request, self._spec)
        tokens = TextTokens(
            self._tokenizer, _ROLE, _TAIL, skipped=ROLE_TOKENS, dropped=_TAIL_TOKENS
        )
        coming = FedText(feed, tokens, self._embeddings.text, self._eos, self._pad)
        first = coming.vector(0, stale)
        if first is None:
            return None
        if not coming.tokens:
            raise PromptError(_NOTHING)
        head = self._head(request, self._codec_prefix(request))
        start = first + self._codec([self._spec.ids.bos])
        return Prompt(
            embeddings=np.concatenate([head, start]),
            trailing=self._pads(0),
            pad=self._pad,
            text_tokens=coming.tokens,
            prefix=len(head),
            coming=coming,
        )

    def _tokens(self, text: str, tail: str, tail_tokens: int) -> Ids:
        """Ids of a text as the model sees it: within its template, which merges at the seams."""
        return self._tokenizer.encode(f"{_ROLE}{text}{tail}")[ROLE_TOKENS:-tail_tokens]

    def _codec_prefix(self, request: Request) -> Floats:
        """The codec track up to codec_pad: language tag, speaker, pad. float32 [n, H]."""
        ids = self._spec.ids
        language = _language_id(request, self._spec)
        if language is None:
            tag = [ids.nothink, ids.think_bos, ids.think_eos]
        else:
            tag = [ids.think, ids.think_bos, language, ids.think_eos]
        track = [self._codec(tag)]
        if request.speaker:
            track.append(self._codec([self._spec.speakers[request.speaker.lower()]]))
        elif request.reference is not None:
            track.append(request.reference.speaker.reshape(1, -1))
        return np.concatenate([*track, self._codec([ids.pad])])

    def _head(self, request: Request, codec: Floats) -> Floats:
        """Everything before the text: instruction, role, then the codec track under text pads.
        float32 [n, H]."""
        role = self._tokenizer.encode(_ROLE)
        parts: list[Floats] = []
        if request.instruction and self._spec.takes_instruction:
            said = self._tokenizer.encode(f"<|im_start|>user\n{request.instruction}<|im_end|>\n")
            parts.append(self._text(said))
        parts.append(self._text(role))
        parts.append(np.concatenate([self._pads(len(codec) - 1), self._bos[None]]) + codec)
        return np.concatenate(parts)

    def _streaming(self, body: Ids) -> tuple[Floats, Floats]:
        """Layout A: the first token starts the sound, the others accompany it."""
        text = self._text(body)
        first = text[:1] + self._codec([self._spec.ids.bos])
        return first, np.concatenate([text[1:], self._eos[None]])

    def _whole(self, body: Ids) -> tuple[Floats, Floats]:
        """Layout B: all of the text, then the sound starts."""
        ids = self._spec.ids
        text = np.concatenate([self._text(body), self._eos[None]])
        start = self._pad + self._codec([ids.bos])
        return np.concatenate([text + self._codec([ids.pad]), start]), self._pads(1)

    def _in_context(
        self, voice: Ids, body: Ids, codes: Ids, streaming: bool
    ) -> tuple[Floats, Floats]:
        """Layouts C and D: transcript and text on the text track, the recording's codes on the
        codec track; one over the other when streaming, one after the other otherwise."""
        ids = self._spec.ids
        text = np.concatenate([self._text(voice), self._text(body), self._eos[None]])
        sound = np.concatenate([self._codec([ids.bos]), self._embeddings.frames(codes)])
        if not streaming:
            return np.concatenate([text + self._codec([ids.pad]), sound + self._pad]), self._pads(1)
        if len(text) > len(sound):
            return text[: len(sound)] + sound, text[len(sound) :]
        padded = np.concatenate([text, self._pads(len(sound) - len(text))])
        return padded + sound, self._pads(1)

    def _text(self, ids: Ids) -> Floats:
        return self._embeddings.text(ids)

    def _codec(self, ids: list[int]) -> Floats:
        return self._embeddings.codec(np.array(ids))

    def _pads(self, count: int) -> Floats:
        return np.repeat(self._pad[None], count, axis=0)


def check_request(request: Request, spec: Spec) -> None:
    """Raise PromptError when the request does not fit the model, whatever its text: its kind, an
    unknown speaker or language, a voice of another width."""
    if spec.kind is Kind.BASE:
        if request.reference is None:
            raise PromptError("a Base model speaks with a cloned voice: give it a reference")
        if request.speaker:
            raise PromptError(f"a Base model has no trained speakers, so no {request.speaker!r}")
    elif request.reference is not None:
        raise PromptError(f"a {spec.kind.value} model cannot clone: use a Base model")
    if spec.kind is Kind.CUSTOM_VOICE and (request.speaker or "").lower() not in spec.speakers:
        known = ", ".join(sorted(spec.speakers))
        raise PromptError(f"unknown speaker {request.speaker!r}; known: {known}")
    if spec.kind is Kind.VOICE_DESIGN and request.speaker:
        raise PromptError("a VoiceDesign model takes a description, not a speaker")
    if request.reference is not None:
        _check_reference(request.reference, spec)
    if not isinstance(request.text, str):
        _check_fed(request)
    _language_id(request, spec)


def _check_fed(request: Request) -> None:
    if request.streaming is False:
        raise PromptError("all text before the sound needs all of the text: give it whole")
    if request.reference is not None and request.reference.in_context:
        raise PromptError(
            "cloning in context needs all of the text at once: give it whole, or clone the voice "
            "without its codes"
        )


def _check_reference(reference: Reference, spec: Spec) -> None:
    if reference.speaker.shape != (spec.talker.hidden,):
        raise PromptError(
            f"the voice has {reference.speaker.size} values, this model needs "
            f"{spec.talker.hidden}: enrol it again"
        )
    if reference.codes is None:
        return
    if reference.codes.ndim != 2 or reference.codes.shape[1] != spec.groups:
        raise PromptError(f"the voice's codes are {reference.codes.shape}, not [n, {spec.groups}]")
    low, high = int(reference.codes.min(initial=0)), int(reference.codes.max(initial=0))
    if low < 0 or high >= spec.codes:
        raise PromptError(
            f"the voice's codes are from {low} to {high}, the model knows 0 to {spec.codes - 1}: "
            "enrol it again"
        )
    if not reference.text.strip():
        raise PromptError("cloning in context needs the transcript of the whole recording")


def _language_id(request: Request, spec: Spec) -> int | None:
    """The language's codec id; None leaves the language open. A speaker of a dialect speaks it
    when the language is Chinese or open."""
    name = (request.language or AUTO).lower()
    dialect = spec.dialects.get((request.speaker or "").lower())
    if dialect is not None and name in {"chinese", AUTO}:
        return spec.languages[dialect]
    if name == AUTO:
        return None
    if name not in spec.languages or "dialect" in name:
        raise PromptError(
            f"unknown language {request.language!r}; known: {', '.join(spoken_languages(spec))}"
        )
    return spec.languages[name]


def spoken_languages(spec: Spec) -> list[str]:
    """Language names a request may use, without dialects, which come with their speakers."""
    return [AUTO, *(name for name in spec.languages if "dialect" not in name)]
