"""Measure Qwen3-TTS in conversations with the embedded language model.

See `s2s.bench.qwen3.conversation`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.qwen3.conversation import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
