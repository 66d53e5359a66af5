"""`python -m s2s`."""

import sys

from s2s.cli import main

if __name__ == "__main__":
    sys.exit(main())
