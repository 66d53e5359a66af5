"""What calls cost a server: its processor time for each call, silent and while it answers.

    python -m s2s.bench.load.calls --calls 1 --seconds 15

A server in a process of its own, on models that take no time (`bench.load.served`), is called over
WebRTC from this one, whose own time is not counted. Measured: the server alone; calls that say and
hear nothing, while microphones send silence; calls that are asked again and again, so that an
answer is always played. Prints a table and, last, one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from s2s.bench.conditions import Conditions
from s2s.bench.entry import need, run_measurement
from s2s.bench.load.run import ServerProcess, served
from s2s.bench.load.served import ANSWER_S

if TYPE_CHECKING:
    from s2s.bench.load.webrtc_client import ServedCall


async def measured(server: ServerProcess, calls: int, seconds: float) -> list[float]:
    """Per cent of a core that the server takes: alone, with silent calls, with answering ones."""
    from s2s.bench.load.webrtc_client import ServedCall

    loop = asyncio.get_running_loop()

    async def share(ask: Sequence[ServedCall] = ()) -> float:
        before, began_s = server.cpu_s(), loop.time()
        while (left_s := began_s + seconds - loop.time()) > 0:
            for each in ask:
                each.ask()
            due = loop.create_future()
            timer = loop.call_later(min(left_s, ANSWER_S), due.set_result, None)
            await due
            timer.cancel()
        return 100 * (server.cpu_s() - before) / (loop.time() - began_s)

    alone = await share()
    made = [ServedCall() for _ in range(calls)]
    try:
        for each in made:
            await each.begin(server.port)
        return [alone, await share(), await share(made)]
    finally:
        for each in made:
            await each.end()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m s2s.bench.load.calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=15.0)
    options = parser.parse_args(argv)
    need("aiortc")
    with served(options.calls) as server:
        shares = asyncio.run(measured(server, options.calls, options.seconds))
    rows = dict(zip(("server alone", "silent calls", "answering calls"), shares, strict=True))
    print(f"{'% of a core, ' + str(options.calls) + ' calls':24} {'server':>8} {'each call':>10}")
    for name, value in rows.items():
        each = (value - shares[0]) / options.calls
        print(f"{name:24} {value:8.2f} {each:10.2f}")
    figures = {name: round(value, 2) for name, value in rows.items()}
    told = {"calls": options.calls, "percent": figures, "conditions": asdict(Conditions.here())}
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(run_measurement(main))
