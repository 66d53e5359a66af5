"""Measure conversations in real time: from the end of speech to the first sound of the answer.

See `s2s.bench.pipeline`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.pipeline import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
