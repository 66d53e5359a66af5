"""Servers that speak OpenAI's API: the official client, made stoppable at any moment, and
tolerant of what servers really send. Knows nothing about speech or language models.
"""

from s2s.system.remote.client import Remote, Send
from s2s.system.remote.errors import (
    RemoteError,
    is_html,
    reported_error,
    server_words,
    stalled,
    unexpected,
)
from s2s.system.remote.reply import Reply, Waits
from s2s.system.remote.settings import ServerConfig
from s2s.system.remote.web_socket import ServerWebSocket, SocketMessage, socket_address

__all__ = [
    "Remote",
    "RemoteError",
    "Reply",
    "Send",
    "ServerConfig",
    "ServerWebSocket",
    "SocketMessage",
    "Waits",
    "is_html",
    "reported_error",
    "server_words",
    "socket_address",
    "stalled",
    "unexpected",
]
