"""Measure the wake words: recognised, late, by mistake, at what cost.

See `s2s.bench.wake_word`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.wake_word import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
