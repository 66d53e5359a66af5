"""`python -m s2s`."""

import sys

from s2s.app.cli import entry

if __name__ == "__main__":
    sys.exit(entry())
