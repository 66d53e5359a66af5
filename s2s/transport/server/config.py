"""Settings of the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2s.core.setting import setting

ResumeStore = Literal["auto", "process", "ray", "redis"]


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Where the server listens, whom it lets in, and how much it takes from a client."""

    host: str = setting(
        "127.0.0.1",
        "Address to listen on; 0.0.0.0 is every network of this machine, and asks for a key.",
    )
    port: int = setting(8765, "Port to listen on; 0 takes a free one.")
    max_sessions: int = setting(
        4, "Conversations at a time; who comes beyond is told 503 and when to come again."
    )
    api_key_env: str = setting(
        "S2S_API_KEY", "Environment variable with the key that clients must send."
    )
    insecure: bool = setting(False, "Serve other machines without a key.")
    tls: bool = setting(
        False,
        "Serve https and wss, with a certificate made here where none is given: browsers give "
        "the microphone to localhost and to https alone.",
    )
    tls_cert: str | None = setting(None, "Certificate chain (PEM) to serve with.")
    tls_key: str | None = setting(None, "Private key (PEM) of the certificate.")
    origins: tuple[str, ...] = setting(
        (),
        "Web pages of other origins that may use the server, such as https://example.org; "
        "`*`: all.",
    )
    hosts: tuple[str, ...] = setting(
        (),
        "Other names of this machine under which it may be asked without a key; its addresses, "
        "localhost and its own name always may.",
    )
    max_message_bytes: int = setting(
        21 * 1024 * 1024, "Longest message of a client: 15 MiB of audio in base64 fit."
    )
    max_events_per_s: float = setting(
        500.0, "Messages of a client in a second, over some seconds; more are answered by an error."
    )
    max_items: int = setting(2_000, "Items of a conversation that a client may add.")
    max_text_chars: int = setting(100_000, "Characters of one text of a client.")
    slow_reader_s: float = setting(
        15.0, "A client that takes nothing for so long, while something waits for it, is closed."
    )
    drain_s: float = setting(
        0.0,
        "What a server that is told to end waits for answers that are being given, and lets nobody "
        "in; then its clients are told to come again (close code 1012). 0: it ends at once.",
    )
    resume_s: float = setting(
        60.0, "How long the conversation of a dropped connection is kept for its return; 0: not."
    )
    resume_store: ResumeStore = setting(
        "auto",
        "Where those conversations are kept: in this process; in an actor of the cluster (ray); in "
        "redis, so that another server goes on with them; auto: ray under `cluster`, else process.",
    )
    redis_url_env: str = setting(
        "S2S_REDIS_URL",
        "Environment variable with the address of Redis: redis://:password@host:6379/0, or rediss.",
    )
    ice_servers: tuple[str, ...] = setting(
        (),
        "STUN or TURN servers of WebRTC, such as stun:stun.example.org, for clients of other "
        "networks; none: this machine's own addresses.",
    )
    max_upload_bytes: int = setting(25 * 1024 * 1024, "Largest sound file to be transcribed.")
    max_upload_s: float = setting(3_600.0, "Longest sound to be transcribed.")
    max_input_chars: int = setting(4_096, "Longest text of one speech request.")
    codec_stream: bool = setting(
        False,
        "Give codes in place of sound to devices that decode them (--tts qwen3): "
        "docs/codec-stream.md.",
    )
    http_workers: int = setting(
        2, "Requests for speech, transcriptions and texts that are worked on at a time."
    )
    http_waiting: int = setting(16, "Such requests that may wait; who comes beyond is told 503.")

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port must be 0 to 65535, got {self.port}")
        for name in (
            "max_sessions",
            "max_message_bytes",
            "max_upload_bytes",
            "max_input_chars",
            "max_items",
            "max_text_chars",
            "http_workers",
        ):
            value: int = getattr(self, name)
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.max_events_per_s <= 0 or self.slow_reader_s <= 0 or self.max_upload_s <= 0:
            raise ValueError(
                "max_events_per_s, slow_reader_s and max_upload_s must be positive, got "
                f"{self.max_events_per_s}, {self.slow_reader_s} and {self.max_upload_s}"
            )
        if min(self.resume_s, self.http_waiting, self.drain_s) < 0:
            raise ValueError(
                "resume_s, http_waiting and drain_s must not be negative, got "
                f"{self.resume_s}, {self.http_waiting} and {self.drain_s}"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together: give both, or none")

    @property
    def secure(self) -> bool:
        """It serves https."""
        return self.tls or self.tls_cert is not None
