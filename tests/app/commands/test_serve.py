"""The command `serve`: its flags reach its work."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.serving import command
from s2s.config.schema import Config

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_what_was_given_is_served(monkeypatch: pytest.MonkeyPatch):
    served: list[tuple[str, int, bool, str | None]] = []

    def serve(config: Config, store: object, key: str | None) -> int:
        served.append((config.serve.host, config.serve.port, config.serve.tls, key))
        return 0

    monkeypatch.setattr(command, "serve", serve)
    flags = ["--host", "0.0.0.0", "--port", "9000", "--tls", "--api-key", "secret"]
    assert cli.main(["serve", *flags]) == 0
    assert cli.main(["serve"]) == 0
    usual = Config().serve
    assert served == [("0.0.0.0", 9000, True, "secret"), (usual.host, usual.port, False, None)]
