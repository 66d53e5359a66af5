"""Measure how often turns are cut off, and how long their ends are waited for.

See `s2s.bench.turn_ends.endpointing`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.turn_ends.endpointing import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
