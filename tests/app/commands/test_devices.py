"""The command `devices`: what is there is listed, and nothing is a failure."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.commands import devices
from s2s.transport import local
from s2s.transport.base import DeviceError

pytestmark = pytest.mark.usefixtures("clean_environment")


def test_devices_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    found = [
        local.Device(0, "Mic", 2, 0, 48_000, True, False),
        local.Device(1, "Box", 0, 2, 44_100, False, True),
    ]
    monkeypatch.setattr(devices, "list_devices", lambda: found)
    assert cli.main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["0", "Mic", "2", "default", "0", "48000", "Hz"],
        ["1", "Box", "0", "2", "default", "44100", "Hz"],
    ]


def test_no_devices_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def missing() -> list[local.Device]:
        raise DeviceError("PortAudio is missing: install it")

    monkeypatch.setattr(devices, "list_devices", missing)
    assert cli.main(["devices"]) == 1
    assert "PortAudio is missing" in capsys.readouterr().err
    monkeypatch.setattr(devices, "list_devices", list)
    assert cli.main(["devices"]) == 1
    assert "no sound device" in capsys.readouterr().err
