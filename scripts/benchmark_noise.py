"""Measure whether noise suppression helps the recogniser and the voice detector.

See `s2s.bench.noise`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.noise import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
