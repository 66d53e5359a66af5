"""The command `wyoming`: its flags reach its work."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.serving import wyoming_command
from s2s.config.schema import Config
from s2s.transport.wyoming.config import WyomingConfig

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_what_was_given_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[WyomingConfig] = []

    def serve(config: Config, store: object) -> int:
        served.append(config.wyoming)
        return 0

    monkeypatch.setattr(wyoming_command, "serve_wyoming", serve)
    flags = ["--host", "0.0.0.0", "--port", "9000", "--max-connections", "3"]
    assert cli.main(["wyoming", *flags, "--allow", "10.0.0.1", "private"]) == 0
    assert cli.main(["wyoming", "--insecure", "--no-zeroconf"]) == 0
    assert cli.main(["wyoming"]) == 0
    allow = ("10.0.0.1", "private")
    assert served == [
        WyomingConfig(host="0.0.0.0", port=9000, max_connections=3, allow=allow),
        WyomingConfig(insecure=True, zeroconf=False),
        WyomingConfig(),
    ]
