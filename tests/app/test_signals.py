"""Ctrl-C and its kind: the first ends in order, the second acts as if there were no handler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from s2s.app.signals import Interrupted, Signals, handled
from tests.support.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_a_signal_interrupts_with_the_code_that_shells_expect() -> None:
    with pytest.raises(Interrupted) as ended, handled() as signals:
        signals.arrived(signal.SIGTERM, None)
    assert ended.value.code == 143
    assert isinstance(ended.value, KeyboardInterrupt)


def test_inside_of_a_conversation_it_stops_that() -> None:
    stopped: list[bool] = []
    with handled() as signals, signals.ending(lambda: stopped.append(True)):
        signals.arrived(signal.SIGINT, None)
    assert stopped == [True]


def test_the_second_signal_is_the_systems_again() -> None:
    with handled() as signals, signals.ending(lambda: None):
        assert signal.getsignal(signal.SIGINT) == signals.arrived
        signals.arrived(signal.SIGINT, None)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_handlers_are_put_back_and_an_ignored_signal_stays_ignored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with handled():
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    was = signal.getsignal(signal.SIGINT)
    with handled():
        pass
    assert signal.getsignal(signal.SIGINT) == was


def test_another_thread_changes_nothing() -> None:
    was = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def run() -> None:
        with handled() as signals:
            seen.extend([signals, signal.getsignal(signal.SIGINT)])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE_S)
    assert isinstance(seen[0], Signals)
    assert seen[1] == was


def test_the_end_is_the_usual_one_where_no_thread_of_ours_is_left() -> None:
    code = (
        "import atexit, sys\n"
        "from s2s.app.signals import leave\n"
        "atexit.register(print, 'in order')\n"
        "sys.exit(leave(3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "in order\n", "")


@pytest.mark.parametrize("closed", [False, True])
def test_a_thread_of_ours_does_not_hold_the_end_up(closed: bool) -> None:
    """What was written is written, and a closed output is no error."""
    code = (
        "import sys, threading\n"
        "from s2s.app.signals import leave\n"
        "threading.Thread(target=threading.Event().wait, name='s2s-load-x').start()\n"
        f"print('told'); {'sys.stdout.close();' if closed else ''} leave(4)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout, done.stderr) == (4, "told\n", "")
