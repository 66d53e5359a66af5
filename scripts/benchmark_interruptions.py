"""Measure conversations in which someone speaks over a reply: backchannels and interruptions.

See `s2s.bench.interruptions`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.interruptions import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
