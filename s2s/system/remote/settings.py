"""What all backends on a server have in common to set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from s2s.core.setting import made_setting, setting


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """A server and how long to wait for it."""

    base_url: str = setting(
        "http://127.0.0.1:8080/v1", "Address of the API, up to and with its version."
    )
    model: str = setting(
        "default",
        "Name of the model on the server; of a language server, auto is the first that it has.",
    )
    api_key_env: str | None = setting(
        None,
        "Environment variable with the key; none: OPENAI_API_KEY for api.openai.com, else no key.",
    )
    extra_body: Mapping[str, object] = made_setting(
        dict[str, object],
        "Fields added to each request as they are, by name; null leaves one of ours out.",
    )
    extra_headers: Mapping[str, str] = made_setting(
        dict[str, str], "Headers added to each request."
    )
    connect_timeout_s: float = setting(5.0, "Longest wait for a connection.")
    loading_timeout_s: float = setting(
        10.0, "Longest wait at the start for a server that is still loading or busy."
    )
