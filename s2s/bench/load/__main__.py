"""`python -m s2s.bench.load`."""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.load.run import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
