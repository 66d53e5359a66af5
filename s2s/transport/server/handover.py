"""What the server hands over: a socket to who speaks the Realtime protocol on it, and what it is
given itself. Plain Python: neither side of it knows the other's libraries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from s2s.core.work import Compute
from s2s.llm.base import ChatModel
from s2s.stt.base import Transcriber
from s2s.transport.realtime.server_playback import CallSound
from s2s.tts.base import Synthesizer
from s2s.tts.codec_stream.source import CodecSource
from s2s.turns.base import VadModel


class SocketGone(ConnectionError):
    """The client has gone, or its connection was closed."""


class ClientSocket(Protocol):
    """One client's connection: text frames in both directions. On the server's event loop alone."""

    async def receive_text(self) -> str | None:
        """The next text frame; None: the client has gone."""
        ...

    async def send_text(self, text: str) -> None:
        """Send a text frame; waits while the client reads slowly. From any task of the loop.

        Raises:
            SocketGone: the client has gone, or read nothing for too long.
        """
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End the connection. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class ClientOpening:
    """What is known of a client before its first event."""

    model: str = ""
    """The `model` it asks for in the address; any name will do."""
    intent: str = ""
    """`transcription` in the address asks for a session that only writes down."""
    session: Mapping[str, object] | None = None
    """The session that its client secret was made for, as `validate_session` gave it."""
    resumed: object | None = None
    """What `Converse` returned when an earlier connection of this client ended; or a mapping, what
    one in another process gave to `keep`."""
    may_resume: bool = False
    """The client can come back: what is needed to go on is worth returning."""
    on_error: Callable[[str], None] = field(default=lambda _: None)
    """Counts an `error` event that was sent, by its code."""
    keep: Callable[[Callable[[], Mapping[str, object]]], None] | None = None
    """Told whenever the conversation has changed: given what gives it as plain values of JSON, also
    later. None: nothing is kept outside this process."""
    trouble: str = ""
    """Why the client cannot go on with what it may have left elsewhere; "" where it can."""
    call: CallSound | None = None
    """Its sound, where that does not come with the events."""


Converse = Callable[[ClientSocket, ClientOpening], Awaitable[object | None]]
"""The whole life of one connection: sends `session.created` first, returns when the client has gone
or the session is over, and gives what is needed to go on later, or None. Cancelled when the server
ends."""


class SessionRefused(ValueError):
    """A session object that cannot be. `param` is the path of the field, `code` the protocol's."""

    def __init__(self, message: str, *, param: str | None = None, code: str = "invalid_value"):
        super().__init__(message)
        self.param = param
        self.code = code


ValidateSession = Callable[[Mapping[str, object]], Mapping[str, object]]
"""The whole session object that a client's makes; raises `SessionRefused`."""


@dataclass(frozen=True, slots=True)
class Services:
    """The models that the HTTP endpoints work with, and what a connection is given to."""

    transcriber: Transcriber
    chat: ChatModel
    synthesizer: Synthesizer
    vad: VadModel
    compute: Compute
    converse: Converse
    validate_session: ValidateSession
    language: str | None = None
    """ISO 639-1 code of what is spoken; None: told from each text or recording."""
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of the models in use -> what each does."""
    codes: CodecSource | None = None
    """Gives codes to devices that decode them; None: nobody does."""
