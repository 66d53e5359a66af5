"""`python -m s2s.bench.cluster`."""

import sys

from s2s.bench.cluster.run import main

if __name__ == "__main__":
    sys.exit(main())
