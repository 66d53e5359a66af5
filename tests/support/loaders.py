"""A run of the program whose models are doubles that load, fail or hang as told; for tests of how
the program ends. Arguments: how stt, llm and tts load (see `make`), then those of `s2s`.
"""

from __future__ import annotations

import hashlib
import signal
import sys
import threading
from pathlib import Path
from typing import NoReturn

from s2s.app import cli, loading, together
from s2s.config import registry
from s2s.models.store import Store
from s2s.testing.simulator import EnergyVad
from tests.support.patience import PATIENCE_S

STAGES: tuple[registry.StageName, ...] = ("stt", "llm", "tts")
loaded = threading.Semaphore(0)
"""Released once by each model that is there."""


class Model:
    """Is loaded, says when it is closed, and fails when it is warmed up if told so."""

    def __init__(self, stage: str, how: str) -> None:
        self._stage = stage
        self._how = how

    def warm(self, *_: object) -> None:
        if self._how == "fails when warmed":
            fail(self._stage)
        if self._how == "hangs when warmed":
            tell(f"warming {self._stage}")
            threading.Event().wait()

    def close(self) -> None:
        tell(f"closed {self._stage}")


def tell(line: str) -> None:
    """A line in one write: three threads tell at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def fail(stage: str) -> NoReturn:
    raise RuntimeError(f"{stage} cannot be used")


def make(stage: str, how: str, others: int) -> Model:
    """Load a model.

    Args:
        stage: whose.
        how: `ready`; `fails`; `slow`, in native code without the interpreter's lock; `never`;
            `fails after the others` and `fails after one`; `fails when warmed`.
        others: how many other models will be there.
    """
    tell(f"loading {stage}")
    match how:
        case "fails":
            fail(stage)
        case "fails after the others" | "fails after one":
            for _ in range(others if how == "fails after the others" else min(1, others)):
                loaded.acquire()
            fail(stage)
        case "slow":
            hashlib.pbkdf2_hmac("sha256", b"", b"", 600_000)
        case "never":
            threading.Event().wait()
        case _:
            pass
    loaded.release()
    return Model(stage, how)


def heed_signals() -> None:
    """Take signals as a program in a terminal does: a parent in the background ignores some, and
    that is inherited."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def main() -> int:
    heed_signals()
    hows = dict(zip(STAGES, sys.argv[1:4], strict=True))
    # What loads for ever is waited for in many tests; all else, however busy the machine is.
    together.JOIN_S = 0.2 if "never" in hows.values() else PATIENCE_S
    there = sum(how in ("ready", "slow") for how in hows.values())
    creates = ("create_transcriber", "create_chat_model", "create_synthesizer")
    for stage, create in zip(STAGES, creates, strict=True):
        how = hows[stage]
        setattr(registry, create, lambda *_, stage=stage, how=how: make(stage, how, there))
    setattr(loading, "open_vad", lambda *_: EnergyVad())  # noqa: B010  (a double of another type)
    setattr(loading, "EndOfTurn", lambda _: None)  # noqa: B010
    setattr(Store, "path", lambda *_: Path())  # noqa: B010
    sys.argv[1:] = sys.argv[4:]
    return cli.entry()


if __name__ == "__main__":
    sys.exit(main())
