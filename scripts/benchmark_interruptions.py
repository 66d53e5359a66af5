"""Measure whole conversations in which someone speaks over a reply: backchannels and
interruptions.

See `s2s.bench.interruptions`.
"""

from s2s.bench.interruptions import main

if __name__ == "__main__":
    main()
