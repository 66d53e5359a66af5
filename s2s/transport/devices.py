"""The sound devices of this machine: which there are, and which of them is meant by a name."""

from __future__ import annotations

import logging
import platform
from dataclasses import dataclass
from types import ModuleType

from s2s.transport.base import DeviceError

log = logging.getLogger(__name__)

SHORTENED = 31
"""Windows' oldest interface (MME) cuts names to this length; the others have them whole."""


@dataclass(frozen=True, slots=True)
class Device:
    """A sound device as PortAudio lists it."""

    index: int
    name: str
    inputs: int
    outputs: int
    rate_hz: int
    default_input: bool
    default_output: bool
    host: str = ""
    """The system's interface it is listed under, such as `Windows WASAPI`; "" when not known."""


def portaudio() -> ModuleType:
    """The sounddevice module.

    Raises:
        DeviceError: PortAudio is not installed; the message says the command that brings it.
    """
    try:
        import sounddevice
    except OSError as error:
        remedy = "reinstall the sounddevice package"
        if platform.system() == "Linux":
            remedy = "sudo apt-get install libportaudio2 (or your system's portaudio package)"
        raise DeviceError(f"PortAudio is missing ({error}): {remedy}") from error
    return sounddevice


def list_devices(sounddevice: ModuleType | None = None) -> list[Device]:
    """All sound devices of this machine, asked through `sounddevice` (None: the installed one).

    Raises:
        DeviceError: PortAudio is not installed or cannot be asked.
    """
    sd = sounddevice or portaudio()
    try:
        default_in, default_out = sd.default.device
        return [
            Device(
                index,
                str(entry["name"]),
                int(entry["max_input_channels"]),
                int(entry["max_output_channels"]),
                int(entry["default_samplerate"]),
                index == default_in,
                index == default_out,
                str(sd.query_hostapis(entry["hostapi"])["name"]) if "hostapi" in entry else "",
            )
            for index, entry in enumerate(sd.query_devices())
        ]
    except sd.PortAudioError as error:
        raise DeviceError(f"sound devices cannot be listed: {error}") from error


def look_again(sd: ModuleType) -> None:
    """Have PortAudio see what was plugged in or out since it began. Every stream must be closed.

    Raises:
        DeviceError: it could not begin again.
    """
    try:
        sd._terminate()
        sd._initialize()
    except AttributeError:
        log.debug("this PortAudio binding cannot look again")
    except sd.PortAudioError as error:
        raise DeviceError(f"sound devices cannot be listed: {error}") from error


def choose(devices: list[Device], wanted: str | None, *, output: bool) -> Device:
    """The device called `wanted` (index or part of the name), or the default one.

    Where the system lists one device under several interfaces, as Windows does, it is the default
    one of them, else that under the interface of the default device.

    Raises:
        DeviceError: there is none, or more than one fits; the message lists what there is.
    """
    kind = "loudspeaker" if output else "microphone"
    usable = [d for d in devices if (d.outputs if output else d.inputs) > 0]
    names = ", ".join(f"{d.index}: {_told(d)}" for d in usable) or "none"
    if not usable:
        raise DeviceError(f"no {kind} found on this machine")
    default = next((d for d in usable if (d.default_output if output else d.default_input)), None)
    if wanted is None:
        return default or usable[0]
    if wanted.isdigit():
        fitting = [d for d in usable if d.index == int(wanted)]
    else:
        text = wanted.strip().casefold()
        fitting = [d for d in usable if text in d.name.casefold()]
        exact = [d for d in fitting if d.name.casefold() == text]
        fitting = _preferred(exact or fitting, default)
    if len(fitting) > 1:
        raise DeviceError(
            f"more than one {kind} is called '{wanted}'; give the number of one of {names}"
            if len({d.name for d in fitting}) == 1
            else f"more than one {kind} is called '{wanted}'; there are {names}"
        )
    if not fitting:
        raise DeviceError(f"no {kind} is called '{wanted}'; there are {names}")
    return fitting[0]


def _told(device: Device) -> str:
    return f"{device.name} ({device.host})" if device.host else device.name


def _preferred(fitting: list[Device], default: Device | None) -> list[Device]:
    """One of the devices that fit if they are one device under several interfaces, else all."""
    if len(fitting) < 2 or not all(_same_name(fitting[0], other) for other in fitting):
        return fitting
    if default in fitting:
        return [device for device in fitting if device is default]
    hosts = [device.host for device in fitting]
    if "" in hosts or len(set(hosts)) < len(hosts):
        return fitting  # two of a kind
    beside = [device for device in fitting if default is not None and device.host == default.host]
    return beside or fitting[:1]


def _same_name(one: Device, other: Device) -> bool:
    a, b = sorted((one.name.casefold(), other.name.casefold()), key=len)
    return a == b or (len(a) == SHORTENED and b.startswith(a))
