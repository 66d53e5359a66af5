"""`python -m s2s.bench.load`."""

import sys

from s2s.bench.load.run import main

if __name__ == "__main__":
    sys.exit(main())
