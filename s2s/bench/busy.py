"""Conversations on a machine that other programs use too.

    python scripts/benchmark_busy.py                        none, one, two and four busy programs
    python scripts/benchmark_busy.py --busy 0 1 --turns 22

Each busy program is a loop in a session of its own, as every program a person starts is: Linux
shares the processors between sessions first. The conversation is that of `s2s.bench.pipeline`, in a
process of its own. A figure may be (1 + busy programs / cores) x 1.3 of that on the quiet machine.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from s2s.bench.conditions import Conditions
from s2s.bench.entry import check_ended, run_measurement
from s2s.system.cpu import cores

ALLOWED = 1.3
"""What a figure may be of its fair share, beside busy programs."""
_LOOP = "while True: pass"


@dataclass(frozen=True, slots=True)
class BusyRow:
    """A conversation beside so many busy programs; medians, in ms after the end of speech."""

    busy: int
    turns: int
    answered: int
    first_token_ms: float
    first_sound_ms: float
    heard_ms: float
    """The first sound of the answer as recorded: voice to voice."""

    def allowed(self, quiet: BusyRow) -> tuple[float, float]:
        """First token and first sound that are still good, in ms."""
        factor = (1 + self.busy / cores()) * ALLOWED
        return factor * quiet.first_token_ms, factor * quiet.first_sound_ms

    def keeps(self, quiet: BusyRow) -> bool:
        """It is as good as it must be, and no answer was given up."""
        token_ms, sound_ms = self.allowed(quiet)
        in_time = self.first_token_ms <= token_ms and self.first_sound_ms <= sound_ms
        return in_time and self.answered == self.turns


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print; 0 when every row is as good as it must be."""
    options = parse(arguments)
    rows = [converse(busy, options.turns, options.set) for busy in options.busy]
    quiet = next((row for row in rows if not row.busy), None)
    print("busy programs | turns | answered | first token | first sound | voice to voice, ms p50")
    for row in rows:
        line = (
            f"{row.busy:13} | {row.turns:5} | {row.answered:8} | {row.first_token_ms:11.0f} | "
            f"{row.first_sound_ms:11.0f} | {row.heard_ms:8.0f}"
        )
        if quiet is not None and row.busy:
            token_ms, sound_ms = row.allowed(quiet)
            verdict = "good" if row.keeps(quiet) else "too slow"
            line += f"   allowed {token_ms:.0f} and {sound_ms:.0f}: {verdict}"
        print(line)
    good = quiet is None or all(row.keeps(quiet) for row in rows)
    told = {"benchmark": "busy", "rows": [asdict(row) for row in rows], "good": good}
    print(json.dumps({**told, "settings": options.set, **asdict(Conditions.here())}))
    return 0 if good else 1


def converse(busy: int, turns: int, settings: Sequence[str]) -> BusyRow:
    """One conversation beside `busy` busy programs.

    Raises:
        LackingError, RuntimeError: it ended in an error; with its last words.
    """
    command = [sys.executable, "-m", "s2s.bench.pipeline", "--turns", str(turns)]
    command += ["--idle-seconds", "0"]
    for each in settings:
        command += ["--set", each]
    with busy_programs(busy):
        result = subprocess.run(command, capture_output=True, text=True)
    check_ended("the conversation", result.returncode, result.stderr)
    found = json.loads(result.stdout.strip().splitlines()[-1])
    parts = found["parts_ms"]
    return BusyRow(
        busy,
        found["turns"],
        found["answered"] + found["cut_off"],
        parts["first_token"]["p50"],
        parts["first_audio"]["p50"],
        found["latency_p50_ms"],
    )


@contextmanager
def busy_programs(count: int) -> Generator[None, None, None]:
    """So many programs that compute without a pause, each in a session of its own."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        while len(running) < count:
            running.append(subprocess.Popen([sys.executable, "-c", _LOOP], start_new_session=True))
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 1, 2, 4], metavar="N")
    parser.add_argument("--turns", type=int, default=50, help="things the person says, each time")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    found = parser.parse_args(arguments)
    if min(found.busy) < 0 or found.turns < 1:
        parser.error("--busy must be 0 or more, --turns at least 1")
    return found


if __name__ == "__main__":
    sys.exit(run_measurement(main))
