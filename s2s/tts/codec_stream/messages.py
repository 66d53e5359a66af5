"""The messages in JSON, checked as they come in. Names are vLLM-Omni's; ours stand under
`codec_stream`, or have `codec.` in front. pydantic's, so not to be imported before it is needed.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from s2s.tts.codec_stream.framing import EPOCHS, HEADERS, WireError

DECODER = "qwen3_tts_tokenizer_v2_12hz"
"""The codec of Qwen3-TTS 12 Hz, as vLLM-Omni calls it."""
VERSION = 2
MOST_TEXT = 20_000
"""Characters of one text."""
MOST_MESSAGE = 1 << 20
"""Characters of one message in JSON."""

T = TypeVar("T")
Count = Annotated[int, Field(ge=0, le=1 << 31)]
Epoch = Annotated[int, Field(ge=0, lt=EPOCHS)]
Name = Annotated[str, Field(max_length=200)]


class _Message(BaseModel):
    """Unknown fields are left alone, as vLLM-Omni does: both ends may be of different ages."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    def written(self) -> str:
        """As text: what is not given is left out."""
        return self.model_dump_json(exclude_none=True)


class StreamWishes(_Message):
    """What version 2 adds to a configuration."""

    version: Annotated[int, Field(ge=1)] = VERSION
    """The highest that the client speaks."""
    epoch: Epoch = 0
    """Of the answer that this configures; every message of it carries it."""
    decoder: Name = ""
    """Content hash of the decoder that the client has; "": it is not compared."""
    credit: Annotated[int, Field(ge=1, le=1 << 31)] | None = None
    """Frames that may be sent before the client grants more; None: all."""
    per_message: Annotated[int, Field(ge=1, le=64)] = 1
    """Frames that may wait for each other to go in one message, once sound is ahead."""
    prefixes: Annotated[list[Name], Field(max_length=64)] = []
    """Content hashes of reference prefixes that the client has."""
    attempt: Annotated[int, Field(ge=0, le=16)] = 0
    """Which sampling run of the same seed."""
    about: bool = False
    """Tell the model's voices and languages with the answer."""
    fed: bool = False
    """Speak along while the text comes, from its first piece on; `input.done` is its end
    (docs/decisions/text-fed-over-the-wire.md)."""


class SpeechConfig(_Message):
    """How the next answers are to be spoken; in front of the first text."""

    type: Literal["session.config"] = "session.config"
    output_mode: Name = "codec_tokens"
    stream_audio: bool = True
    response_format: Name = "pcm"
    speed: float = 1.0
    split_granularity: Name = "none"
    model: Name | None = None
    voice: Name | None = None
    language: Name | None = None
    task_type: Name | None = None
    instructions: Annotated[str, Field(max_length=MOST_TEXT)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    codec_stream: StreamWishes | None = None

    def written(self) -> str:
        """As text; of version 2 no more than is needed, for lines that are narrow."""
        fields = self.model_dump(exclude_none=True)
        if self.codec_stream is not None:
            wishes = self.codec_stream.model_dump(exclude_defaults=True)
            fields["codec_stream"] = {"version": self.codec_stream.version, **wishes}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


class SpeechText(_Message):
    """More of the text."""

    type: Literal["input.text"] = "input.text"
    text: Annotated[str, Field(max_length=MOST_TEXT)]


class InputDone(_Message):
    """That was all of it: speak."""

    type: Literal["input.done"] = "input.done"


class InputCancel(_Message):
    """The answer is not wanted any more."""

    type: Literal["input.cancel"] = "input.cancel"
    epoch: Epoch | None = None
    """None: whatever is spoken."""


class CreditGrant(_Message):
    """So many frames of the answer may be sent, counted from its beginning."""

    type: Literal["codec.credit"] = "codec.credit"
    epoch: Epoch
    frames: Count


class SessionClose(_Message):
    """The client leaves."""

    type: Literal["session.close"] = "session.close"


ClientMessage = SpeechConfig | SpeechText | InputDone | InputCancel | CreditGrant | SessionClose


class Prefix(_Message):
    """The reference prefix of a cloned voice."""

    id: Name
    """Content hash of its codes."""
    frames: Annotated[int, Field(ge=1, le=1 << 16)]
    sent: bool
    """It follows, in messages with the flag PREFIX; else the client has it."""


class CodecStart(_Message):
    """An answer begins; with what is needed to decode it."""

    type: Literal["codec.start"] = "codec.start"
    version: Annotated[int, Field(ge=1, le=1 << 16)] = 1
    utterance_index: Count | None = None
    sentence_index: Count | None = None
    sentence_text: str | None = None
    model: str | None = None
    codebooks: Annotated[int, Field(ge=1, le=64)]
    codebook_size: Annotated[int, Field(ge=2, le=0x7FFF)]
    frame_rate_hz: Annotated[float, Field(gt=0, le=1000)]
    sample_rate: Annotated[int, Field(ge=1, le=1 << 20)]
    decoder_id: Name
    header_format: Name = HEADERS[1]
    decoder: Name | None = None
    """Content hash of the decoder whose codes these are."""
    epoch: Epoch | None = None
    prefix: Prefix | None = None
    voices: list[Name] | None = None
    languages: list[Name] | None = None
    """ISO 639-1."""
    feeds: bool | None = None
    """With this voice, a text can be spoken along while it is written."""


class CodecDone(_Message):
    """An answer has ended."""

    type: Literal["codec.done"] = "codec.done"
    utterance_index: Count | None = None
    sentence_index: Count | None = None
    total_frames: Count
    """Of speech: frames that were sent beyond them say nothing."""
    seq_last: Annotated[int, Field(ge=-1, le=1 << 32)] | None = None
    """Of the last binary message; -1 or none: there was none."""
    error: str | None = None
    cancelled: bool | None = None
    epoch: Epoch | None = None
    stop_reason: Name | None = None
    sent_frames: Count | None = None
    """Where they are more than those of speech."""


class InputCancelled(_Message):
    """A cancel was heard: nothing more of that answer is computed."""

    type: Literal["input.cancelled"] = "input.cancelled"
    epoch: Epoch | None = None
    utterance_index: Count | None = None


class SessionDone(_Message):
    """All of a text was spoken."""

    type: Literal["session.done"] = "session.done"
    utterance_index: Count = 0
    total_sentences: Count = 1


class ErrorMessage(_Message):
    """Something cannot be done."""

    type: Literal["error"] = "error"
    message: str
    code: Name | None = None
    action: Name | None = None
    """`discard`: what came of the answer is better not played."""
    partial_audio: bool | None = None
    epoch: Epoch | None = None


ServerMessage = CodecStart | CodecDone | InputCancelled | SessionDone | ErrorMessage

_client: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)
_server: TypeAdapter[ServerMessage] = TypeAdapter(
    Annotated[ServerMessage, Field(discriminator="type")]
)


def parse_client(text: str) -> ClientMessage:
    """What a client said. Raises WireError, which names the field that is wrong."""
    return _parsed(_client, text)


def parse_server(text: str) -> ServerMessage:
    """What a server said. Raises WireError, which names the field that is wrong."""
    return _parsed(_server, text)


def _parsed(adapter: TypeAdapter[T], text: str) -> T:
    if len(text) > MOST_MESSAGE:
        raise WireError(f"a message of {len(text)} characters; at most {MOST_MESSAGE}")
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "message"
        raise WireError(f"{place}: {first['msg']}") from None
