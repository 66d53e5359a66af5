"""Which devices there are, and which of them a name means."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from s2s.transport.base import DeviceError
from s2s.transport.devices import Device, choose, list_devices, look_again, portaudio
from tests.transport.test_local import DEVICES, FakePortAudio, PortAudioError

MIC = "Microphone (USB Mic)"
LONG = "Microphone (Realtek High Definition Audio)"
HOSTS = ("MME", "Windows DirectSound", "Windows WASAPI", "Windows WDM-KS")


def test_devices_are_found_by_number_name_or_default() -> None:
    devices = list_devices(cast(Any, FakePortAudio(DEVICES)))
    assert choose(devices, None, output=False).name == "Laptop Mic"
    assert choose(devices, None, output=True).name == "Laptop Speakers"
    assert choose(devices, "headset", output=True).name == "USB Headset"
    assert choose(devices, "2", output=False).name == "USB Headset"


def test_a_device_that_is_not_there_is_named_with_those_that_are() -> None:
    devices = list_devices(cast(Any, FakePortAudio(DEVICES)))
    with pytest.raises(DeviceError, match=r"no microphone is called 'webcam'; there are 0: Laptop"):
        choose(devices, "webcam", output=False)
    with pytest.raises(DeviceError, match="more than one loudspeaker is called 's'"):
        choose(devices, "s", output=True)
    with pytest.raises(DeviceError, match="no microphone found"):
        choose([], None, output=False)


def listed(index: int, name: str, host: str = "", *, default: bool = False) -> Device:
    return Device(index, name, 1, 2, 48_000, default, default, host)


@pytest.mark.parametrize("output", [False, True])
@pytest.mark.parametrize("wanted", ["USB Mic", "usb mic", MIC, MIC.upper(), " USB Mic "])
@pytest.mark.parametrize("host", range(4))
def test_one_device_under_several_interfaces_is_the_default_one_of_them(
    host: int, wanted: str, output: bool
) -> None:
    devices = [
        listed(4 * i + each, name, api, default=i == 0 and each == host)
        for each, api in enumerate(HOSTS)
        for i, name in enumerate((MIC, "Headset"))
    ]
    found = choose(devices, wanted, output=output)
    assert (found.name, found.host) == (MIC, HOSTS[host])
    other = choose(devices, "Headset", output=output)
    assert (other.name, other.host) == ("Headset", HOSTS[host])


def test_the_default_one_is_taken_though_interfaces_are_not_known() -> None:
    devices = [listed(1, MIC, default=True), listed(9, MIC), listed(17, MIC)]
    assert choose(devices, "USB Mic", output=False).index == 1
    with pytest.raises(DeviceError, match="more than one microphone is called 'USB Mic'"):
        choose(devices[1:], "USB Mic", output=False)


@pytest.mark.parametrize("wanted", ["Realtek", LONG, LONG[:31]])
def test_a_name_that_was_cut_is_the_same_device(wanted: str) -> None:
    devices = [listed(0, "Other", "MME", default=True), listed(1, LONG[:31], "MME")]
    devices += [listed(5, LONG, "Windows WASAPI"), listed(6, "Other", "Windows WASAPI")]
    assert choose(devices, wanted, output=False).index in (1, 5)
    assert choose(devices, "Realtek", output=False).index == 1


def test_two_of_a_kind_are_told_apart_by_number() -> None:
    devices = [
        listed(0, MIC, "ALSA"),
        listed(1, MIC, "ALSA"),
        listed(2, "Box", "ALSA", default=True),
    ]
    with pytest.raises(DeviceError, match=r"give the number of one of 0: Microphone \(USB Mic\)"):
        choose(devices, "USB Mic", output=False)
    assert choose(devices, "1", output=False).index == 1
    devices[1] = listed(1, MIC, "ALSA", default=True)
    assert choose(devices, "USB Mic", output=False).index == 1


def test_different_devices_of_one_word_stay_ambiguous() -> None:
    devices = [listed(0, "USB Mic", "A", default=True), listed(1, "USB Camera", "B")]
    with pytest.raises(DeviceError, match="more than one microphone is called 'USB'"):
        choose(devices, "USB", output=False)


def test_a_device_knows_the_interface_it_is_listed_under() -> None:
    fake = FakePortAudio([{**DEVICES[0], "hostapi": 1}, DEVICES[1]])
    fake.query_hostapis = lambda index: {"name": f"interface {index}"}  # type: ignore[attr-defined]
    hosts = [each.host for each in list_devices(cast(Any, fake))]
    assert hosts == ["interface 1", ""]


def test_devices_that_cannot_be_listed_are_an_error() -> None:
    fake = FakePortAudio(DEVICES)

    def refuse() -> list[dict[str, object]]:
        raise PortAudioError("no server")

    fake.query_devices = refuse  # type: ignore[method-assign]
    with pytest.raises(DeviceError, match="cannot be listed: no server"):
        list_devices(cast(Any, fake))


def test_a_missing_library_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    monkeypatch.setattr("platform.system", lambda: "Linux")
    with pytest.raises(DeviceError, match="apt-get install libportaudio2"):
        portaudio()
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    with pytest.raises(DeviceError, match="reinstall the sounddevice package"):
        portaudio()


def test_it_looks_again_where_that_is_possible() -> None:
    fake = FakePortAudio(DEVICES)
    look_again(cast(Any, fake))
    assert fake.looks == 1
    look_again(cast(Any, SimpleNamespace(PortAudioError=PortAudioError)))  # another binding
