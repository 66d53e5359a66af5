"""What is written means this for the session behind the wire: settings, responses, and items.

Knows `s2s.core.control` and `s2s.core.items` on one side, the models of the wire on the other.
"""

from __future__ import annotations

from s2s.core.control import Answering, Hearing, SemanticVad, ServerVad, ToolSchema
from s2s.core.items import (
    CallItem,
    ItemPart,
    MessageItem,
    OutputItem,
    SoundPart,
    TextPart,
    ToolItem,
)
from s2s.core.items import Item as CoreItem
from s2s.transport.realtime import faults
from s2s.transport.realtime.audio import sound_of, whole_sound
from s2s.transport.realtime.session_object import SessionObject, voice_name
from s2s.transport.realtime.wire.audio_formats import WireFormat
from s2s.transport.realtime.wire.base64_text import decoded, encoded
from s2s.transport.realtime.wire.items import (
    AssistantContent,
    AssistantMessage,
    FunctionCall,
    FunctionCallOutput,
    InputAudio,
    InputText,
    Item,
    McpCall,
    OutputAudio,
    OutputText,
    SystemMessage,
    ToldItem,
    ToolFault,
    UserContent,
    UserMessage,
)
from s2s.transport.realtime.wire.settings import (
    ChosenFunction,
    ChosenServer,
    FunctionTool,
    RealtimeSettings,
    ResponseSettings,
    SemanticVadSettings,
    ServerVadSettings,
    Tool,
    ToolChoice,
    TranscriptionSettings,
    TurnDetection,
)

MAX_RETRIEVED_BYTES = 5 << 20
"""Of sound in a retrieved item: as base64 it stays below the 8 MiB that some clients take in one
message. An item with more (110 s at 24 kHz) is told without it."""


def hearing_of(session: SessionObject) -> Hearing:
    """How turns are found and written down."""
    heard = session.heard
    detection = heard.turn_detection
    return Hearing(
        detection=_detection(detection),
        answers=session.kind == "realtime"
        and detection is not None
        and detection.create_response is not False,
        interrupts=detection is not None and detection.interrupt_response is not False,
        transcribes=heard.transcription is not None or session.kind == "transcription",
        language=_language(heard.transcription),
    )


def answering_of(session: SessionObject, other: ResponseSettings | None = None) -> Answering:
    """How responses are made; `other` is what is different for one of them."""
    settings = session.settings
    if not isinstance(settings, RealtimeSettings):
        return Answering(session.defaults.instructions, spoken=False)
    other = other or ResponseSettings()
    instructions = settings.instructions if other.instructions is None else other.instructions
    tools = settings.tools if other.tools is None else other.tools
    choice = settings.tool_choice if other.tool_choice is None else other.tool_choice
    limit = other.max_output_tokens or settings.max_output_tokens
    modalities = other.output_modalities or settings.output_modalities or ["audio"]
    voice = response_voice(session, other)
    return Answering(
        instructions=instructions or "",
        tools=_schemas(tools or []),
        tool_choice=choice if isinstance(choice, str) else "required" if choice else "auto",
        forced_tool=_forced(choice),
        max_output_tokens=limit if isinstance(limit, int) else None,
        spoken=modalities == ["audio"],
        voice=voice if voice in session.defaults.voices else None,
        speed=session.spoken.speed or 1.0,
    )


def response_voice(session: SessionObject, other: ResponseSettings) -> str:
    """The voice that is asked for."""
    output = other.audio.output if other.audio else None
    return voice_name(output.voice if output else None) or session.voice


def _schemas(tools: list[Tool]) -> tuple[ToolSchema, ...]:
    """The functions among `tools`: servers of tools are not called."""
    return tuple(
        ToolSchema(each.name, each.description or "", each.parameters or {})
        for each in tools
        if isinstance(each, FunctionTool)
    )


def _forced(choice: ToolChoice | None) -> str | None:
    return choice.name if isinstance(choice, ChosenFunction | ChosenServer) else None


def _detection(found: TurnDetection | None) -> ServerVad | SemanticVad | None:
    """The session's object has all written out; what is null anyway is as in `ServerVad`."""
    match found:
        case None:
            return None
        case ServerVadSettings():
            default = ServerVad()
            prefix, silence = found.prefix_padding_ms, found.silence_duration_ms
            return ServerVad(
                default.threshold if found.threshold is None else found.threshold,
                default.prefix_ms if prefix is None else prefix,
                default.silence_ms if silence is None else silence,
                found.idle_timeout_ms,
            )
        case SemanticVadSettings(eagerness=eagerness):
            return SemanticVad("medium" if eagerness in (None, "auto") else eagerness)


def _language(transcription: TranscriptionSettings | None) -> str | None:
    if transcription is None:
        return None
    languages = transcription.languages or []
    only = languages[0] if len(languages) == 1 else None
    return transcription.language or only


# --- items -------------------------------------------------------------------------------------


def core_item(item: Item, item_id: str, heard_as: WireFormat, text_chars: int, at: str) -> CoreItem:
    """An item that a client made, as the conversation keeps it; `at` is its path in the event.

    Raises:
        ClientFault: its audio is no base64, or one of its texts is too long.
    """
    match item:
        case FunctionCall():
            _check_length(item.arguments, text_chars, f"{at}.arguments")
            return CallItem(item_id, item.call_id or item_id, item.name, item.arguments)
        case FunctionCallOutput():
            _check_length(item.output, text_chars, f"{at}.output")
            return OutputItem(item_id, item.call_id, item.output)
        case SystemMessage() | UserMessage() | AssistantMessage():
            parts: list[ItemPart] = []
            for index, content in enumerate(item.content):
                place = f"{at}.content[{index}]"
                if isinstance(content, InputText | OutputText):
                    _check_length(content.text, text_chars, f"{place}.text")
                    parts.append(TextPart(content.text))
                elif isinstance(content, InputAudio | OutputAudio):
                    parts.append(_sound_part(content, heard_as, place))
            return MessageItem(item_id, item.role, tuple(parts))


def _sound_part(content: InputAudio | OutputAudio, heard_as: WireFormat, at: str) -> SoundPart:
    if not content.audio:
        return SoundPart(content.transcript)
    sound = sound_of(from_base64(content.audio, f"{at}.audio"), heard_as)
    return SoundPart(content.transcript, sound, 16_000)


def _check_length(text: str, most: int, at: str) -> None:
    if len(text) > most:
        raise faults.too_much("a text", len(text), most, at)


def wire_item(
    item: CoreItem, heard_as: WireFormat, spoken_as: WireFormat, *, with_sound: bool
) -> ToldItem:
    """An item of the conversation as it is written."""
    match item:
        case ToolItem():
            return mcp_call(item)
        case CallItem():
            return FunctionCall(
                id=item.item_id,
                status=item.status,
                name=item.name,
                call_id=item.call_id,
                arguments=item.arguments,
            )
        case OutputItem():
            return FunctionCallOutput(
                id=item.item_id, status=item.status, call_id=item.call_id, output=item.output
            )
        case MessageItem(item_id, "system", parts, status):
            texts = [InputText(text=_words(part)) for part in parts]
            return SystemMessage(id=item_id, status=status, content=texts)
        case MessageItem(item_id, "user", parts, status):
            heard: list[UserContent] = [
                _input(part, heard_as if with_sound else None) for part in parts
            ]
            return UserMessage(id=item_id, status=status, content=heard)
        case MessageItem(item_id, _, parts, status):
            said: list[AssistantContent] = [
                _output(part, spoken_as if with_sound else None) for part in parts
            ]
            return AssistantMessage(id=item_id, status=status, content=said)


def mcp_call(item: ToolItem) -> McpCall:
    """A call that the server made itself, as it is written."""
    call = McpCall(
        id=item.item_id,
        server_label=item.origin,
        name=item.name,
        arguments=item.arguments,
        approval_request_id=None,
    )
    given = {"error": ToolFault(message=item.output)} if item.failed else {"output": item.output}
    return call.model_copy(update=given)


def _words(part: ItemPart) -> str:
    return part.text if isinstance(part, TextPart) else part.transcript or ""


def _input(part: ItemPart, audio_format: WireFormat | None) -> InputText | InputAudio:
    if isinstance(part, TextPart):
        return InputText(text=part.text)
    sound = _written_sound(part, audio_format)
    if sound is None:
        return InputAudio(transcript=part.transcript)
    return InputAudio(transcript=part.transcript, audio=sound)


def _output(part: ItemPart, audio_format: WireFormat | None) -> OutputText | OutputAudio:
    if isinstance(part, TextPart):
        return OutputText(text=part.text)
    sound = _written_sound(part, audio_format)
    words = part.transcript or ""
    return OutputAudio(transcript=words, audio=sound) if sound else OutputAudio(transcript=words)


def _written_sound(part: SoundPart, audio_format: WireFormat | None) -> str | None:
    """Its sound as base64, where it has any that fits into a message."""
    if part.audio is None or audio_format is None:
        return None
    data = whole_sound(part.audio, part.rate_hz, audio_format)
    return to_base64(data) if 0 < len(data) <= MAX_RETRIEVED_BYTES else None


# --- base64 ------------------------------------------------------------------------------------


def from_base64(text: str, at: str = "audio") -> bytes:
    """The bytes that `text` stands for.

    Raises:
        ClientFault: it is no base64.
    """
    try:
        return decoded(text)
    except ValueError:
        raise faults.not_base64(at) from None


def to_base64(data: bytes) -> str:
    """`data` as text."""
    return encoded(data)
