"""A client of the HTTP endpoints of a server of fakes."""

from __future__ import annotations

import io
import json

import numpy as np
import soundfile
from starlette.testclient import TestClient

from s2s.transport.server.app import make_app
from s2s.transport.server.server import Server
from tests.support.serving import fake_server

SILENCE = np.zeros(32_000, np.float32)
"""Two seconds."""
ASKED = {"model": "gpt-x", "messages": [{"role": "user", "content": "Hi."}]}
"""The least that a chat request needs."""


def client(server: Server | None = None, **options: object) -> TestClient:
    return TestClient(make_app(server or fake_server()), base_url="http://localhost", **options)  # pyright: ignore[reportArgumentType]


def events(text: str) -> list[dict[str, object] | str]:
    """The data of server-sent events."""
    found = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data")]
    return [each if each == "[DONE]" else json.loads(each) for each in found]


def wav(*parts: np.ndarray) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, np.concatenate(parts), 16_000, format="WAV", subtype="PCM_16")
    return out.getvalue()
