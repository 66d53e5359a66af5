"""Measure who is answered and who interrupts: the person, others, music, babble, noises.

See `s2s.bench.whose_voice.command`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.whose_voice.command import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
