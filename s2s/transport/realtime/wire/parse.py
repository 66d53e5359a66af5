"""Text into events: whatever is wrong with an event becomes one `ClientFault` that names the place.

Nothing is converted: a number in quotes is no number.
"""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from s2s.core.untyped import is_list, is_object
from s2s.transport.realtime import faults
from s2s.transport.realtime.faults import ClientFault, SessionFieldError
from s2s.transport.realtime.wire.client_events import (
    AudioAppend,
    AudioClear,
    AudioCommit,
    ClientEvent,
    ItemCreate,
    ItemDelete,
    ItemRetrieve,
    ItemTruncate,
    OutputClear,
    ResponseCancel,
    ResponseCreate,
    SessionUpdate,
)
from s2s.transport.realtime.wire.server_events import AnyServerEvent, ServerEvent
from s2s.transport.realtime.wire.settings import SessionSettings

EVENT_ID_CHARACTERS = 512

_MODELS: dict[str, type[ClientEvent]] = {
    "session.update": SessionUpdate,
    "input_audio_buffer.append": AudioAppend,
    "input_audio_buffer.commit": AudioCommit,
    "input_audio_buffer.clear": AudioClear,
    "output_audio_buffer.clear": OutputClear,
    "conversation.item.create": ItemCreate,
    "conversation.item.retrieve": ItemRetrieve,
    "conversation.item.truncate": ItemTruncate,
    "conversation.item.delete": ItemDelete,
    "response.create": ResponseCreate,
    "response.cancel": ResponseCancel,
}
CLIENT_EVENT_TYPES = tuple(_MODELS)

_server_event: TypeAdapter[ServerEvent] = TypeAdapter(AnyServerEvent)
_settings: TypeAdapter[SessionSettings] = TypeAdapter(SessionSettings)

_WRONG_KIND = ("_type", "_parsing", "model_attributes_type")
"""How pydantic's names of "wrong type of JSON" end."""


def parse_object(text: str) -> dict[str, object]:
    """A JSON object out of a message.

    Raises:
        ClientFault: it is none, or nested too deeply.
    """
    try:
        value: object = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # the second for half of a surrogate pair
        raise faults.not_json(str(error)) from None
    if not is_object(value):
        raise faults.not_an_object(_kind(value))
    return value


def event_id_of(value: dict[str, object]) -> str | None:
    """The id that the client gave its event, if it is one."""
    found = value.get("event_id")
    return found if isinstance(found, str) and len(found) <= EVENT_ID_CHARACTERS else None


def parse_event(value: dict[str, object]) -> ClientEvent:
    """The event in `value`.

    Raises:
        ClientFault: it is none, or something in it is wrong.
    """
    if "type" not in value:
        raise faults.without_type()
    kind = value["type"]
    if not isinstance(kind, str):
        message = f"Invalid type for 'type': expected a string, but got {_kind(kind)} instead."
        raise ClientFault("invalid_type", message, "type")
    model = _MODELS.get(kind)
    if model is None:
        raise faults.unknown_type(kind, CLIENT_EVENT_TYPES)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise fault_of(error, value) from None


def parse_settings(value: object) -> SessionSettings:
    """The settings of a session, as they come with a client secret.

    Raises:
        SessionFieldError: something in them is wrong; `param` is the path, beginning with session.
    """
    try:
        return _settings.validate_python(value)
    except ValidationError as error:
        fault = fault_of(error, value)
        param = f"session.{fault.param}" if fault.param else "session"
        raise SessionFieldError(fault.code, fault.message, param) from None


def parse_server_event(text: str) -> ServerEvent:
    """What a server said; for clients and tests.

    Raises:
        ValidationError: it is none of the events that this server sends.
    """
    return _server_event.validate_json(text)


def fault_of(error: ValidationError, value: object) -> ClientFault:
    """The first thing that pydantic found wrong with `value`, as the protocol says it."""
    found = [(each, _path(each, value)) for each in error.errors(include_url=False)]
    first, at = found[0]
    for each, path in found:  # the variant of a union that came furthest says what is wrong
        if path.startswith(at) and len(path) > len(at):
            first, at = each, path
    same = [each for each, path in found if path == at]
    kind = first["type"]
    if kind in ("missing", "union_tag_not_found"):
        message = f"Missing required parameter: '{at}'."
        return ClientFault("missing_required_parameter", message, at)
    if kind == "extra_forbidden":
        return ClientFault("unknown_parameter", f"Unknown parameter: '{at}'.", at)
    wanted = " or ".join(dict.fromkeys(_wanted(each) for each in same))
    if all(each["type"].endswith(_WRONG_KIND) for each in same):
        got = _kind(first["input"])
        message = f"Invalid type for '{at}': expected {wanted}, but got {got} instead."
        return ClientFault("invalid_type", message, at)
    message = f"Invalid value for '{at}': {_shown(first)}. Expected {wanted}."
    return ClientFault("invalid_value", message, at)


def _path(error: ErrorDetails, value: object) -> str:
    """Where it is, as `session.tools[0].name`.

    Pydantic also names the variant that it tried; only names that the value has, and a last one
    that it lacks, are part of the path.
    """
    path = ""
    at = value
    for index, part in enumerate(error["loc"]):
        last = index == len(error["loc"]) - 1
        if isinstance(part, int):
            path += f"[{part}]"
            at = at[part] if is_list(at) and part < len(at) else None
        elif is_object(at) and part in at:
            path += f".{part}" if path else part
            at = at[part]
        elif last and error["type"] == "missing":
            path += f".{part}" if path else part
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(error.get("ctx", {}).get("discriminator", "'type'")).strip("'")
        path += f".{tag}" if path else tag
    return path


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _shown(error: ErrorDetails) -> str:
    """The value that is wrong, as far as it is short."""
    value: object = error["input"]
    if error["type"] == "union_tag_invalid":
        value = error.get("ctx", {}).get("tag")
    if isinstance(value, str):
        return f"'{value[:64]}'"
    return str(value)[:64] if isinstance(value, int | float) else _kind(value)


def _wanted(error: ErrorDetails) -> str:
    """What would be right."""
    if error["type"] == "union_tag_invalid":
        return f"one of {error.get('ctx', {}).get('expected_tags')}"
    message = error["msg"]
    for beginning in ("Input should be ", "Value should ", "String should ", "List should "):
        message = message.removeprefix(beginning)
    return message[:1].lower() + message[1:]
