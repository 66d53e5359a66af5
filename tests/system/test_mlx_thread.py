"""One thread for all that computes with MLX; nothing here needs MLX."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from s2s.system.mlx_thread import mlx_thread


def in_a_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_all_calls_run_in_one_thread_which_outlives_those_that_called() -> None:
    ran: list[threading.Thread] = []
    for _ in range(3):
        in_a_thread(lambda: mlx_thread().call(lambda: ran.append(threading.current_thread())))
    assert len(set(ran)) == 1
    assert ran[0] is not threading.current_thread()
    assert ran[0].is_alive()
    assert ran[0].daemon, "it does not keep the program from ending"


def test_a_call_gives_what_its_work_gives_and_raises_what_it_raises() -> None:
    assert mlx_thread().call(lambda: 6 * 7) == 42
    for error in (ValueError("no weights"), KeyboardInterrupt()):

        def work(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)):
            mlx_thread().call(work)
    assert mlx_thread().call(lambda: "on") == "on", "an error does not end it"


def test_calls_that_meet_run_one_after_another() -> None:
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        running.append(1)
        most.append(len(running))
        running.pop()

    threads = [threading.Thread(target=lambda: mlx_thread().call(work)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8
