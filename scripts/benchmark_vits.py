"""Time to first sound of Piper voices, side by side.

See `s2s.bench.vits`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.vits import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
