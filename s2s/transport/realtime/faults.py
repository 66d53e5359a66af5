"""What a client did wrong: codes and texts of the `error` events.

Clients look at codes, and some at how a text begins, so both are spelled here once. Two codes must
never be sent by mistake, as clients blame them on their last `response.create`: those that contain
`response_create`, and texts that contain `response.create`:
docs/decisions/realtime-errors-are-rare.md.
"""

from __future__ import annotations

from collections.abc import Sequence


class ClientFault(Exception):
    """One event of the client cannot be obeyed; the session goes on.

    Args:
        code: as clients know it.
        message: what happened and what to do.
        param: the path of the field, where it is one.
    """

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param


class SessionFieldError(ClientFault):
    """A session cannot be made of these settings."""


def not_json(reason: str) -> ClientFault:
    return ClientFault("invalid_json", f"The message could not be parsed as JSON: {reason}.")


def not_an_object(kind: str) -> ClientFault:
    return ClientFault("invalid_type", f"Expected a JSON object, but got {kind} instead.")


def without_type() -> ClientFault:
    return ClientFault("invalid_event", "The event has no 'type'.", "type")


def unknown_type(found: str, known: Sequence[str]) -> ClientFault:
    listed = ", ".join(f"'{each}'" for each in known)
    message = f"Invalid value: '{found[:64]}'. Supported values are: {listed}."
    # The list names every event, but a text with this name in it would be taken as an answer to it.
    return ClientFault("invalid_value", message.replace("'response.create', ", ""), "type")


def too_little_audio(found_ms: float) -> ClientFault:
    return ClientFault(
        "input_audio_buffer_commit_empty",
        "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, "
        f"but buffer only has {found_ms:.2f}ms of audio.",
    )


def nothing_to_cancel() -> ClientFault:
    return ClientFault(
        "response_cancel_not_active", "Cancellation failed: no active response found."
    )


def response_is_active(response_id: str) -> ClientFault:
    return ClientFault(
        "conversation_already_has_active_response",
        f"Conversation already has an active response in progress: {response_id}. "
        "Wait until the response is finished before creating a new one.",
    )


def no_such_item(doing: str, item_id: str) -> ClientFault:
    """`doing` is retrieve, delete or truncate."""
    return ClientFault(
        f"item_{doing}_invalid_item_id",
        f"Error {doing.removesuffix('e')}ing item: the item with id '{item_id[:64]}' does not "
        "exist.",
        "item_id",
    )


def no_such_place(item_id: str) -> ClientFault:
    return ClientFault(
        "item_create_invalid_previous_item_id",
        f"Error creating item: the previous item with id '{item_id[:64]}' does not exist.",
        "previous_item_id",
    )


def no_such_reference(item_id: str, param: str) -> ClientFault:
    message = f"The item with id '{item_id[:64]}' does not exist."
    return ClientFault("invalid_value", message, param)


def item_exists(item_id: str) -> ClientFault:
    return ClientFault(
        "item_create_duplicate_item_id",
        f"Error adding item: an item with id '{item_id[:64]}' already exists.",
        "item.id",
    )


def without_audio(item_id: str) -> ClientFault:
    return ClientFault(
        "unsupported_content_type",
        f"Error truncating item: item '{item_id[:64]}' has no audio at this content index; only "
        "audio of the assistant can be truncated.",
    )


def beyond_the_audio(audio_end_ms: int, total_ms: int) -> ClientFault:
    return ClientFault(
        "invalid_value",
        f"Audio content of {total_ms}ms is already shorter than {audio_end_ms}ms",
        "audio_end_ms",
    )


def not_base64(at: str) -> ClientFault:
    return ClientFault(
        "invalid_value",
        f"Invalid '{at}'. Expected base64-encoded audio bytes, but got an invalid value.",
        at,
    )


def too_much(what: str, found: int, most: int, param: str) -> ClientFault:
    message = f"Invalid '{param}': {what} of {found} exceeds the limit of {most}."
    return ClientFault("invalid_value", message, param)


def too_many_items(most: int) -> ClientFault:
    return ClientFault(
        "conversation_too_long",
        f"The conversation holds {most} items, which is the limit. Delete some first.",
        "item",
    )


def voice_is_fixed(voice: str) -> ClientFault:
    return ClientFault(
        "cannot_update_voice",
        f"Cannot update a conversation's voice if assistant audio is present: it is '{voice}'.",
        "session.audio.output.voice",
    )


def kind_is_fixed(kind: str) -> ClientFault:
    return ClientFault(
        "invalid_value",
        f"The session is of type '{kind}', which cannot be changed any more.",
        "session.type",
    )


def tracing_is_fixed() -> ClientFault:
    return ClientFault(
        "invalid_value",
        "Cannot update tracing once it is set.",
        "session.tracing",
    )


def needs_webrtc() -> ClientFault:
    return ClientFault(
        "invalid_value",
        "'output_audio_buffer.clear' is for WebRTC, where the server plays. Over a WebSocket the "
        "client drops what it has not played.",
        "type",
    )


def never_answers() -> ClientFault:
    return ClientFault("invalid_event", "A transcription session makes no responses.", "type")
