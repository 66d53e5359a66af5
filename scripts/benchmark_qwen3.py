"""Measure the Qwen3-TTS core: what a frame costs part by part, when sound comes, how it stops.

See `s2s.bench.qwen3.core`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.qwen3.core import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
