"""A lock on a file: one holds it, the next goes on when it is free, however the first one ended."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from s2s.system.filelock import locked
from tests.support.patience import PATIENCE_S


def test_threads_hold_it_one_after_the_other(tmp_path: Path) -> None:
    inside, most, guard = 0, 0, threading.Lock()

    def hold() -> None:
        nonlocal inside, most
        for _ in range(20):
            with locked(tmp_path / "lock"):
                with guard:
                    inside += 1
                    most = max(most, inside)
                with guard:
                    inside -= 1

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_process_that_dies_lets_go_of_it(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from s2s.system.filelock import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read(); os._exit(1)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline() == "held\n"
    got = threading.Event()

    def hold() -> None:
        with locked(tmp_path / "lock"):
            got.set()

    thread = threading.Thread(target=hold)
    thread.start()
    assert not got.is_set()
    other.stdin.close()
    thread.join(PATIENCE_S)
    assert got.is_set()
    assert other.wait() == 1
    other.stdout.close()


def test_an_error_inside_lets_go_of_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock"):
        raise ZeroDivisionError
    with locked(tmp_path / "lock"):
        pass
