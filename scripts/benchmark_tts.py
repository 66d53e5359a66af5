"""Measure a text-to-speech backend: how soon it sounds, whether it keeps up, what it costs.

See `s2s.bench.tts`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.tts import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
