"""Speak with several engines for Qwen3-TTS, side by side: same machine, same weights, same voice.

See `s2s.bench.peers.compare`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.peers.compare import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
