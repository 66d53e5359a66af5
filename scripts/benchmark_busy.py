"""Measure conversations beside none, one, two and four busy programs.

See `s2s.bench.busy`.
"""

import sys

from s2s.bench.busy import main
from s2s.bench.entry import run_measurement

if __name__ == "__main__":
    sys.exit(run_measurement(main))
