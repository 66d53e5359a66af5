"""A PulseAudio of a test's own, with null sinks for a room and a loudspeaker, and a program in it.

What a person says is played into the sink `room`, whose monitor is the microphone; the program
plays into the sink `box`, whose monitor is recorded. Needs the Debian packages pulseaudio,
pulseaudio-utils, libportaudio2 and libasound2-plugins; no hardware.
"""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes.util import find_library
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block, from_int16
from s2s.models.store import home

RATE_HZ = 24_000
"""Of what is recorded."""
ANSWER_S = 45.0
"""More than anything takes on a busy machine."""


def missing() -> str | None:
    """What must be installed for a sound server, as a command; None when all is here."""
    lacking = [
        package
        for package, there in (
            ("pulseaudio", shutil.which("pulseaudio")),
            ("pulseaudio-utils", shutil.which("pactl") and shutil.which("parec")),
            ("libportaudio2", find_library("portaudio")),
            ("libasound2-plugins", _alsa_plugin()),
        )
        if not there
    ]
    return f"apt-get install {' '.join(lacking)}" if lacking else None


def _alsa_plugin() -> bool:
    folders = (Path(folder) for folder in ("/usr/lib", "/usr/lib64"))
    return any(any(folder.glob("**/libasound_module_pcm_pulse.so")) for folder in folders)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `pulse` that was asked for fails where the sound server is missing."""
    required: list[str] = item.config.getoption("--require")
    asked_for = item.get_closest_marker("pulse") is not None and "pulse" in required
    if asked_for and (remedy := missing()) is not None:
        pytest.fail(f"no sound server: {remedy}")


class SoundServer:
    """Runs until `close`."""

    def __init__(self, folder: Path, *, rate_hz: int = 48_000) -> None:
        self._folder = folder
        self._modules: dict[str, str] = {}
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        socket = folder / "native"
        self.environment = os.environ | {
            "S2S_HOME": str(home()),
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(runtime),
            "PULSE_SERVER": f"unix:{socket}",
            "PYTHONUNBUFFERED": "1",
        }
        (folder / ".asoundrc").write_text(
            "pcm.!default { type pulse }\nctl.!default { type pulse }"
        )
        protocol = f"module-native-protocol-unix socket={socket} auth-anonymous=1"
        command = ["pulseaudio", "-n", "--daemonize=yes", "--exit-idle-time=-1"]
        self._run(*command, f"--log-target=file:{folder / 'log'}", "-L", protocol)
        for sink in ("room", "box"):
            self.plug(sink, rate_hz)
        self.control("set-default-sink", "box")
        self.control("set-default-source", "room.monitor")

    def plug(self, sink: str, rate_hz: int) -> None:
        """Have a null sink of that name and rate."""
        self._modules[sink] = self.control(
            "load-module", "module-null-sink", f"sink_name={sink}", f"rate={rate_hz}", "channels=2"
        )

    def unplug(self, sink: str) -> None:
        self.control("unload-module", self._modules.pop(sink))

    def loop_back(self, latency_ms: int = 20, level_db: float = 0.0) -> None:
        """The loudspeaker is heard by the microphone, so much louder than it plays."""
        self.control(
            "load-module", "module-loopback", "source=box.monitor", "sink=room",
            f"latency_msec={latency_ms}",
        )  # fmt: skip
        looped = self.control("list", "short", "sink-inputs").split()[0]
        self.control("set-sink-input-volume", looped, f"{level_db:.1f}dB")

    def suspend(self, sink: str, *, on: bool) -> None:
        """Have a sink sleep, or wake up: its streams stand still meanwhile."""
        self.control("suspend-sink", sink, "1" if on else "0")

    def say(self, recording: Path) -> None:
        """Play a sound file into the room; returns when it was played."""
        self._run("paplay", "--device=room", str(recording))

    @contextmanager
    def until_something_records(self) -> Iterator[None]:
        """Leaves when a program has opened the microphone since it was entered."""
        watch = subprocess.Popen(
            ["stdbuf", "-oL", "pactl", "subscribe"],
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert watch.stdout is not None
        try:
            yield
            for line in watch.stdout:
                if "'new' on source-output" in line:
                    break
        finally:
            watch.kill()
            watch.wait()
            watch.stdout.close()

    def wait_a_recording(self, sink: str, recording: Path) -> None:
        """Return when a sound file was played into a sink: that long."""
        self._run("paplay", f"--device={sink}", str(recording))

    @contextmanager
    def recorded(self) -> Iterator[list[Block]]:
        """Record the loudspeaker: one block float32 [samples at 24 kHz] is in the list behind."""
        path = self._folder / "recorded.raw"
        blocks: list[Block] = []
        with path.open("wb") as file:
            recorder = subprocess.Popen(
                ["parec", "--device=box.monitor", "--format=s16le", f"--rate={RATE_HZ}",
                 "--channels=1"], stdout=file, env=self.environment,
            )  # fmt: skip
            try:
                yield blocks
            finally:
                recorder.terminate()
                recorder.wait(10)
        blocks.append(from_int16(np.fromfile(path, dtype="<i2")))

    def control(self, *arguments: str) -> str:
        return self._run("pactl", *arguments).strip()

    def close(self) -> None:
        self._run("pactl", "exit")

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout


class Program:
    """`s2s` at the sound server, and the lines that it shows."""

    def __init__(self, server: SoundServer, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "s2s", *arguments],
            env=server.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        """All that it has shown until now and somebody waited for."""
        self._shown: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, *parts: str) -> str:
        """The next line that has one of these parts."""
        while (line := self._next()) is not None:
            if any(part in line for part in parts):
                return line
        raise AssertionError(f"it ended without '{parts}':\n{''.join(self.lines)}")

    def end(self) -> int:
        """End it as Ctrl-C does; its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        code = self._process.wait(30)
        while self._next() is not None:
            pass
        return code

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _next(self) -> str | None:
        try:
            line = self._shown.get(timeout=ANSWER_S)
        except queue.Empty:
            raise AssertionError(f"nothing more is shown after:\n{''.join(self.lines)}") from None
        if line is not None:
            self.lines.append(line)
        return line

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._shown.put(line)
        self._shown.put(None)
