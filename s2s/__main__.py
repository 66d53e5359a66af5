"""`python -m s2s`."""

import sys

from s2s.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
