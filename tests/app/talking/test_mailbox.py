"""A queue whose reader a signal always reaches."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from s2s.app.talking.mailbox import Mailbox


@pytest.fixture
def box() -> Iterator[Mailbox[object]]:
    with closing(Mailbox[object]()) as made:
        yield made


def test_items_come_in_order_from_any_thread(box: Mailbox[object]) -> None:
    def send() -> None:
        for item in range(10_000):  # more than the socket holds
            box.put(item)

    thread = threading.Thread(target=send)
    thread.start()
    assert [box.get() for _ in range(10_000)] == list(range(10_000))
    thread.join()


def test_a_thread_waits_as_well(box: Mailbox[object]) -> None:
    got: list[object] = []
    thread = threading.Thread(target=lambda: got.append(box.get()))
    thread.start()
    box.put("here")
    thread.join()
    assert got == ["here"]


def test_what_comes_when_nobody_waits_any_more_is_no_error(box: Mailbox[object]) -> None:
    box.close()
    box.put("late")
    box.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to send")
def test_a_signal_that_came_just_before_the_wait_is_heard(box: Mailbox[object]) -> None:
    """The byte that the interpreter wrote is there however late the wait begins."""
    heard: list[int] = []

    def handler(number: int, _: object) -> None:
        heard.append(number)
        box.put("woken")

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        # The kernel may give it to any thread; the handler runs on this one.
        threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        assert box.get() == "woken"
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to send")
def test_what_a_handler_raises_ends_the_wait(box: Mailbox[object]) -> None:
    class Ended(Exception):
        pass

    def handler(*_: object) -> None:
        raise Ended

    def wait_and_be_told() -> None:
        threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        box.get()

    before = signal.signal(signal.SIGINT, handler)
    was = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(was)
    try:
        with pytest.raises(Ended):  # in the wait, or already while the thread starts
            wait_and_be_told()
        assert signal.set_wakeup_fd(was) == was
    finally:
        signal.signal(signal.SIGINT, before)
