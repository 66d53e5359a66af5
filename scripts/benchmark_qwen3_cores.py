"""Every core of Qwen3-TTS on this machine, one after the other, as one table.

See `s2s.bench.qwen3.cores`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.qwen3.cores import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
