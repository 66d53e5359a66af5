"""Measure conversations beside an open loudspeaker: interruptions by itself, and by people.

See `s2s.bench.open_speakers.command`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.open_speakers.command import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
