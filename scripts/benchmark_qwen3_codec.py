"""Measure the Qwen3-TTS codec decoder: what a frame of 80 ms costs, and that splitting is exact.

See `s2s.bench.qwen3.codec`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.qwen3.codec import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
