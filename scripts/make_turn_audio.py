"""Make turns of real speech with pauses cut in, and say where everything is.

See `s2s.bench.turn_audio`.
"""

import sys

from s2s.bench.entry import run_measurement
from s2s.bench.turn_audio import main

if __name__ == "__main__":
    sys.exit(run_measurement(main))
