"""The bounded queue: order, bound, closing; any interleaving loses only what was discarded."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.channel import Channel, Closed, Timeout
from s2s.core.clock import ManualClock


def test_items_come_out_in_order() -> None:
    channel: Channel[int] = Channel(3)
    for item in (1, 2, 3):
        channel.put(item)
    assert [channel.get() for _ in range(3)] == [1, 2, 3]


def test_offer_does_not_wait_when_full() -> None:
    channel: Channel[int] = Channel(1)
    assert channel.offer(1)
    assert not channel.offer(2)
    assert channel.get() == 1


def test_put_waits_until_there_is_room() -> None:
    clock = ManualClock()
    channel: Channel[int] = Channel(1, clock=clock)
    log: list[tuple[str, float]] = []

    def produce() -> None:
        for item in range(3):
            channel.put(item)
            log.append((f"put {item}", clock.now()))

    worker = clock.start(produce, "producer")
    for at_s in (1.0, 2.0):
        clock.wait_until(at_s)
        channel.get()
    worker.join()
    assert log == [("put 0", 0.0), ("put 1", 1.0), ("put 2", 2.0)]
    assert channel.peak == 1


def test_get_gives_up_at_its_deadline() -> None:
    clock = ManualClock()
    channel: Channel[int] = Channel(1, clock=clock)
    with pytest.raises(Timeout):
        channel.get(deadline_s=2.5)
    assert clock.now() == 2.5


def test_close_lets_readers_have_the_rest_and_refuses_writers() -> None:
    channel: Channel[int] = Channel(2)
    channel.put(1)
    channel.close()
    with pytest.raises(Closed):
        channel.put(2)
    assert not channel.offer(2)
    assert list(channel) == [1]


def test_close_wakes_a_waiting_writer() -> None:
    clock = ManualClock()
    channel: Channel[int] = Channel(1, clock=clock)
    channel.put(1)
    refused: list[bool] = []

    def produce() -> None:
        try:
            channel.put(2)
        except Closed:
            refused.append(True)

    worker = clock.start(produce, "producer")
    clock.wait_until(1.0)
    channel.close()
    worker.join()
    assert refused == [True]


def test_take_while_stops_at_the_first_other_and_makes_room() -> None:
    channel: Channel[int] = Channel(4)
    for item in (2, 4, 5, 6):
        channel.put(item)
    assert channel.take_while(lambda item: item % 2 == 0) == [2, 4]
    assert channel.offer(8)
    channel.close()
    assert list(channel) == [5, 6, 8]


def test_discard_removes_anywhere_and_keeps_the_order() -> None:
    channel: Channel[int] = Channel(5)
    for item in range(5):
        channel.put(item)
    assert channel.discard(lambda item: item % 2 == 1) == [1, 3]
    channel.close()
    assert list(channel) == [0, 2, 4]


def test_a_channel_needs_room() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Channel(0)


@settings(max_examples=60, deadline=None)
@given(
    capacity=st.integers(1, 4),
    producers=st.lists(st.lists(st.booleans(), max_size=8), min_size=1, max_size=3),
    drop_at=st.lists(st.integers(0, 20), max_size=3),
)
def test_any_interleaving_keeps_order_and_loses_only_what_was_taken(
    capacity: int, producers: list[list[bool]], drop_at: list[int]
) -> None:
    clock = ManualClock()
    channel: Channel[tuple[int, int]] = Channel(capacity, clock=clock)
    dropped: list[tuple[int, int]] = []

    def produce(number: int, waits: list[bool]) -> None:
        for index, wait in enumerate(waits):
            if wait:
                clock.wait_until(clock.now() + 1.0)
            channel.put((number, index))

    workers = [
        clock.start(lambda n=n, w=w: produce(n, w), f"p{n}") for n, w in enumerate(producers)
    ]

    def finish() -> None:
        for worker in workers:
            worker.join()
        channel.close()

    clock.start(finish, "closer")
    got: list[tuple[int, int]] = []
    for item in channel:
        got.append(item)
        if len(got) in drop_at:
            dropped += channel.take_while(lambda each: each[1] % 2 == 1)
    sent = {(n, i) for n, waits in enumerate(producers) for i in range(len(waits))}
    assert set(got) | set(dropped) == sent
    assert not set(got) & set(dropped)
    for number in range(len(producers)):
        mine = [index for n, index in got if n == number]
        assert mine == sorted(mine)
    assert channel.peak <= capacity


def test_real_threads_lose_nothing() -> None:
    channel: Channel[int] = Channel(8)

    def produce(start: int) -> None:
        for item in range(start, start + 500):
            channel.put(item)

    threads = [threading.Thread(target=produce, args=(start,)) for start in (0, 1000)]
    for thread in threads:
        thread.start()
    got = [channel.get() for _ in range(1000)]
    for thread in threads:
        thread.join()
    assert sorted(got) == [*range(500), *range(1000, 1500)]
