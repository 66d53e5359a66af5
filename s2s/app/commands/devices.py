"""The command `devices`: the microphones and loudspeakers of this machine."""

from __future__ import annotations

import argparse
import sys

from s2s.app.commands.table import Invocation
from s2s.app.terminal import print_table
from s2s.transport.local import list_devices


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """It has none of its own."""


def run(call: Invocation) -> int:
    """Print the sound devices of this machine; 1 when there is none."""
    del call
    found = list_devices()
    if not found:
        print("no sound device on this machine", file=sys.stderr)
        return 1
    rows = [
        (
            str(device.index),
            device.name,
            f"{device.inputs}{' default' if device.default_input else ''}",
            f"{device.outputs}{' default' if device.default_output else ''}",
            f"{device.rate_hz} Hz",
        )
        for device in found
    ]
    print_table(("", "device", "inputs", "outputs", "rate"), rows)
    return 0
