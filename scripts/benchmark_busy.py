"""Measure conversations beside none, one, two and four busy programs.

See `s2s.bench.busy`.
"""

import sys

from s2s.bench.busy import main

if __name__ == "__main__":
    sys.exit(main())
