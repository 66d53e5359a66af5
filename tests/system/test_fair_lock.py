"""Whoever waits is served in order."""

from __future__ import annotations

import threading

from s2s.system.fair_lock import FairLock


def test_one_at_a_time_and_nobody_is_starved_by_who_comes_again_at_once() -> None:
    lock, inside, worst = FairLock(), [0], [0]
    order: list[int] = []
    ready = threading.Barrier(3)

    def work(name: int) -> None:
        ready.wait()
        for _ in range(200):
            with lock:
                inside[0] += 1
                worst[0] = max(worst[0], inside[0])
                order.append(name)
                inside[0] -= 1

    threads = [threading.Thread(target=work, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worst == [1]
    assert sorted(order) == [0] * 200 + [1] * 200 + [2] * 200


def test_who_waits_comes_before_who_comes_again() -> None:
    lock, order = FairLock(), list[str]()
    lock.__enter__()

    def wait() -> None:
        with lock:
            order.append("waited")

    thread = threading.Thread(target=wait)
    thread.start()
    while not lock.waiting:
        pass
    lock.__exit__(None, None, None)
    with lock:
        order.append("again")
    thread.join()
    assert order == ["waited", "again"]
