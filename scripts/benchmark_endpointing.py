"""Measure how often turns are cut off, and how long their ends are waited for.

See `s2s.bench.turn_ends.endpointing`.
"""

from s2s.bench.turn_ends.endpointing import main

if __name__ == "__main__":
    main()
